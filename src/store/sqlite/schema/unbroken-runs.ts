/**
 * The step of the schema that lets an old version be seen to be one too many without a walk from the
 * newest. Never to be edited once released.
 *
 * `run`: versions of a memory before its newest that were made one after the other under its key,
 * with none between them missing: of these the number tells how many came after. What is there has
 * none, until it changes.
 */
export const knowRuns = 'ALTER TABLE memories ADD COLUMN run INTEGER NOT NULL DEFAULT 0;'
