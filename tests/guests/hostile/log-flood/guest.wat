(import "tribunal:plugin/log@1.0.0" "write" (func $log (param i32 i32)))
(func (export "call") (param $name i32) (param $name-len i32) (param $args i32) (param $args-len i32) (result i32)
  (local $i i32)
  (loop $more
    (call $log (i32.const 20000) (i32.const 1000))
    (br_if $more (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 2000))))
  (call $say (i32.const 64) (i32.const 2)))
(data (i32.const 64) "ok")
