(func (export "call") (param $name i32) (param $name-len i32) (param $args i32) (param $args-len i32) (result i32)
  (i32.add (call $say (i32.const 0) (i32.const 0)) (i32.const 1)))
