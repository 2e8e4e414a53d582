(func (export "call") (param $name i32) (param $name-len i32) (param $args i32) (param $args-len i32) (result i32)
  (drop (memory.grow (i32.const 65534))) (call $say (i32.const 0) (i32.const 0)))
