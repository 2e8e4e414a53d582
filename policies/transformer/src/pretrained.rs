//! Models that others trained: GGUF and Hugging Face folders, and low-rank adapters on them.
