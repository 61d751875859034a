/**
 * The rules of the interface's fields, in one list that is published, enforced and shown. Lengths
 * count Unicode code points; bytes are UTF-8.
 */
export const fields = {
  name: { minLength: 1, maxLength: 80 },
  purpose: { minLength: 1, maxLength: 1000 },
  email: { maxLength: 254 },
  password: {
    minLength: 12,
    maxLength: 128,
    refused:
      'the most common passwords, the e-mail address, its part before the @ and the name of this service, also with digits or signs around them or look-alikes for letters',
  },
  key: { pattern: '^[a-zA-Z0-9_.-]{1,100}$' },
  keyPrefix: { pattern: '^[a-zA-Z0-9_.-]{0,100}$' },
  text: { minLength: 1, maxBytes: 16_384 },
  metadata: { maxBytes: 4_096 },
  /** Of a client, as Agent-Run names it. */
  run: { minLength: 1, maxLength: 80 },
  /** Of an embedding model. */
  model: { pattern: '^[\\w./:@-]{1,100}$' },
  vector: { minNumbers: 1, maxNumbers: 4_096 },
  search: { minLength: 1, maxBytes: 16_384 },
  /** Memories on each side of a hit. */
  around: { minimum: 0, maximum: 2 },
  context: { minBytes: 2_000, maxBytes: 65_536 },
  expectedVersion: { minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
} as const
