(func (export "call") (param $name i32) (param $name-len i32) (param $args i32) (param $args-len i32) (result i32)
  (call $say (local.get $args) (local.get $args-len)))
