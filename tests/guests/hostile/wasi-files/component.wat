(component (import "wasi:filesystem/types@0.2.3" (instance)))
