(import "tribunal:plugin/database@1.0.0" "open" (func $open (param i32 i32) (result i32)))
(func (export "describe") (result i32) (i32.const 0))
(func (export "reply") (param i32 i32 i32 i32 i32 i32) (result i32)
  (i32.const 0))
