/** The tools that read one key, and the context. */
import { z } from 'zod'
import { fields } from '../../fields.ts'
import { type contextSchema, DEFAULT_BYTES } from '../../home/context/context.ts'
import { contextOf } from '../../home/context/gather.ts'
import { memoryJson } from '../../home/memories/answers.ts'
import { findAt } from '../../home/memories/memory.ts'
import { around, task } from '../../home/memories/search.ts'
import { findVersions, versionView } from '../../home/memories/versions.ts'
import { memoryKey } from '../../home/schemas.ts'
import { boundedInteger, integer } from '../../pipeline/schemas.ts'
import { besideLines, headline, linesOf, missingText, reading, type Tool } from './tool.ts'

const { minBytes, maxBytes } = fields.context

/** What to call next, as tools. */
const NEXT = [
  {
    tool: 'get_context',
    why: 'Before a task: with about, it includes what you know about the task.',
  },
  { tool: 'search_memories', why: 'Find what you know about something.' },
  { tool: 'read_memory', why: 'Read a memory whole.' },
  { tool: 'list_memories', why: 'List every memory, including those left out here.' },
  {
    tool: 'memory_history',
    why: 'See earlier versions of a memory; restore_memory brings one back.',
  },
  {
    tool: 'write_memory',
    why: 'Write a memory. With metadata {"pinned": true} it is always in this answer, whole.',
  },
] as const

const contextInput = z.strictObject({
  about: task.meta({
    description:
      'What you are about to do, in your own words or the user’s: memories about it are included.',
  }),
  around,
  bytes: boundedInteger({ minimum: minBytes, maximum: maxBytes })
    .default(DEFAULT_BYTES)
    .meta({ description: 'The maximum size of the answer, in UTF-8 bytes.' }),
})

type Context = z.output<typeof contextSchema>
type OtherChange = NonNullable<Context['others']>[number]

const leftOutLine = ({ leftOut: { pinned, memories } }: Context): string =>
  pinned + memories > 0
    ? `Left out: ${pinned} pinned memories, and ${memories} others. list_memories has all.`
    : 'Nothing was left out.'

type FoundMemory = Context['found'][number]

function foundText({ key, version, bytes, text, snippet, ...beside }: FoundMemory): string {
  const head =
    text === undefined
      ? `${key}, version ${version}, found, ${bytes} bytes of which these are some:\n${snippet ?? ''}`
      : `${key}, version ${version}, found:\n${text}`
  return [head, ...besideLines(beside)].join('\n')
}

const changeText = ({ key, version, bytes, text, snippet }: Context['changes'][number]): string =>
  text === undefined
    ? `${key}, version ${version}, ${bytes} bytes${snippet === undefined ? '' : ` that begin: ${snippet}`}`
    : `${key}, version ${version}:\n${text}`

const otherLine = ({ key, change, from, by, at }: OtherChange): string => {
  const author = by ? (by.key?.name ?? `the ${by.as}`) : 'an unknown author'
  return `${key}: ${change}${from === undefined ? '' : ` from ${from}`} by ${author}, ${at}`
}

/** Undefined if there are none. */
function othersText({ others = [], leftOut }: Context): string | undefined {
  const isMore = (leftOut.others ?? 0) > 0 || leftOut.earlierOthers === true
  if (others.length === 0 && !isMore) return undefined
  const more = isMore ? ['There are earlier ones that are not shown.'] : []
  return ['Since you were last here, others changed:', ...others.map(otherLine), ...more].join('\n')
}

const contextText = (context: Context): string =>
  [
    `You are ${context.profile.name}. ${context.profile.purpose ?? ''}`.trim(),
    `${context.memoryCount} memories are in your home.`,
    ...context.pinned.map(({ key, version, text }) => `${key}, version ${version}:\n${text}`),
    ...context.found.map(foundText),
    missingText(context.missing),
    othersText(context),
    ...context.changes.map(changeText),
    leftOutLine(context),
  ]
    .filter((part) => part !== undefined)
    .join('\n\n')

export const getContext: Tool<typeof contextInput> = {
  ...reading,
  name: 'get_context',
  title: 'What to read first',
  description:
    'Call this first, and say in about what you are about to do. Returns who you are, your remaining limits, your pinned memories whole, what you know about the task, what others changed since you were last here, and the newest other memories: short ones whole, of others the first line. leftOut counts what did not fit.',
  input: contextInput,
  async run(sent, { home, client, identity }) {
    const json = await contextOf(home, client, identity, { ...sent, since: 'mine', next: NEXT })
    return { text: contextText(JSON.parse(json)), json }
  },
}

const readInput = z.strictObject({
  key: memoryKey,
  version: integer({ minimum: 1 }).optional().meta({ description: 'An earlier version to read.' }),
})

export const readMemory: Tool<typeof readInput> = {
  ...reading,
  name: 'read_memory',
  title: 'Read a memory',
  description: 'Returns one whole memory. Send its version as expectedVersion when you change it.',
  input: readInput,
  async run({ key, version }, { home, identity }) {
    const memory = await findAt(home, identity, key, version)
    const { metadata, text } = memory
    const shown = metadata === '{}' ? '' : `\nmetadata: ${metadata}`
    return {
      text: `${headline(memory)}${shown}\n\n${text}`,
      json: `{"memory":${memoryJson(memory)}}`,
    }
  },
}

const NO_VERSION = 'No version is kept.'

const MOST_VERSIONS = 50

const historyInput = z.strictObject({
  key: memoryKey,
  before: integer({ minimum: 1 })
    .optional()
    .meta({ description: 'The value of next in the previous answer.' }),
  limit: boundedInteger({ minimum: 1, maximum: MOST_VERSIONS }).default(20),
})

type Version = ReturnType<typeof versionView>

const versionLine = ({ version, operation, bytes, by, createdAt }: Version): string =>
  `version ${version}: ${operation}, ${bytes} bytes, ${createdAt}${by ? `, by the ${by.as} through ${by.via}${by.run === undefined ? '' : ` (${by.run})`}` : ''}`

export const memoryHistory: Tool<typeof historyInput> = {
  ...reading,
  name: 'memory_history',
  title: 'List the versions of a memory',
  description:
    'Lists the versions of a memory, newest first, with their authors; also for a deleted memory. read_memory with version reads one, restore_memory brings one back.',
  input: historyInput,
  async run({ key, before, limit }, { home, identity }) {
    const found = await findVersions(home, identity, key, { before, limit })
    const versions = found.versions.map(versionView)
    const next = found.next ?? null
    const more = next === null ? undefined : `More: send before ${next}.`
    const { renamedTo } = found
    const none = renamedTo ? `The memory was renamed to ${renamedTo}: use that key.` : NO_VERSION
    return {
      text: linesOf(versions.map(versionLine), none, more),
      json: JSON.stringify({ versions, next, renamedTo }),
    }
  },
}
