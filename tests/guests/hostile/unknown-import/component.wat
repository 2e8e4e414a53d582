(component (import "evil:host/shell@1.0.0" (instance)))
