(import "tribunal:plugin/database@1.0.0" "open" (func $open (param i32 i32 i32)))
(data (i32.const 8192) "agent")
(func (export "call") (param $name i32) (param $name-len i32) (param $args i32) (param $args-len i32) (result i32)
  (local $i i32)
  (loop $more
    (call $open (i32.const 8192) (i32.const 5) (i32.const 2000))
    (br_if $more (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 2000))))
  (call $say (i32.const 0) (i32.const 0)))
