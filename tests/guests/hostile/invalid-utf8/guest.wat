(data (i32.const 8192) "\ff\fe\c0")
(func (export "call") (param $name i32) (param $name-len i32) (param $args i32) (param $args-len i32) (result i32)
  (call $say (i32.const 8192) (i32.const 3)))
