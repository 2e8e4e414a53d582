(import "tribunal:plugin/log@1.0.0" "write" (func $log (param i32 i32)))
(memory (export "memory") 900)
(func (export "call") (param $name i32) (param $name-len i32) (param $args i32) (param $args-len i32) (result i32)
  (call $log (i32.const 0) (i32.const 50000000)) (call $say (i32.const 0) (i32.const 0)))
