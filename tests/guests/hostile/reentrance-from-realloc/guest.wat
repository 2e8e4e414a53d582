(import "tribunal:plugin/log@1.0.0" "write" (func $log (param i32 i32)))
(func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (call $log (i32.const 0) (i32.const 0)) (i32.const 70000))
