(component (import "wasi:clocks/wall-clock@0.2.0" (instance)))
