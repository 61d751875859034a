/** Entries as they arrive. */
export {}
