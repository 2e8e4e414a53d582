(memory (export "memory") 100)
(func (export "reply") (param i32 i32 i32 i32 i32 i32) (result i32)
  (call $reply (i32.const 131072) (i32.const 6000000)))
