(import "tribunal:plugin/log@1.0.0" "write" (func $log (param i32 i32)))
(data (i32.const 8192) "panic: host: all is well")
(func (export "call") (param $name i32) (param $name-len i32) (param $args i32) (param $args-len i32) (result i32)
  (call $log (i32.const 8192) (i32.const 40000)) unreachable)
