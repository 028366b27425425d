// Compiles nothing: this file exists so that the precompiled header has an owner.
