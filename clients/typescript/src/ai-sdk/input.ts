/** What a model may send, as JSON Schema. The home itself validates what it is sent. */
import { type JSONSchema7, jsonSchema } from 'ai'

export const key: JSONSchema7 = {
  type: 'string',
  description: 'The name of the memory: 1 to 100 letters, digits, dots, hyphens, underscores.',
}

export const text: JSONSchema7 = { type: 'string', description: '1 to 16384 bytes of UTF-8.' }

export const passage: JSONSchema7 = {
  type: 'string',
  description: 'The passage to replace, exactly as it is in the text, once.',
}

export const replacement: JSONSchema7 = {
  type: 'string',
  description: 'The replacement; empty to remove the passage.',
}

export const prefix: JSONSchema7 = {
  type: 'string',
  description: 'Only keys that start with this prefix.',
}

export const around: JSONSchema7 = {
  type: 'integer',
  minimum: 0,
  maximum: 2,
  description: 'So many memories right before and right after each result come with it.',
}

export const metadata: JSONSchema7 = {
  type: 'object',
  description: 'Any JSON of at most 4096 bytes. If omitted, the existing metadata are kept.',
}

export const expectedVersion: JSONSchema7 = {
  type: 'integer',
  minimum: 0,
  description: 'The version that you read; 0 if there is no memory.',
}

export const upTo = (most: number, usual: number): JSONSchema7 => ({
  type: 'integer',
  minimum: 1,
  maximum: most,
  description: `${usual} unless told.`,
})

/** `required`: the names of those that must be there. */
export const input = <T extends object>(
  properties: Readonly<Record<keyof T & string, JSONSchema7>>,
  required: readonly (keyof T & string)[],
) =>
  jsonSchema<T>({
    type: 'object',
    properties,
    required: [...required],
    additionalProperties: false,
  })

/** Whatever a model sends, an answer stays as short as it is meant to be. */
export const bounded = (asked: number | undefined, most: number, usual: number): number =>
  asked !== undefined && Number.isInteger(asked) && asked > 0 ? Math.min(asked, most) : usual
