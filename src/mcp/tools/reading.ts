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
import { parseExactly } from '../../json/exactly.ts'
import { boundedInteger, integer } from '../../pipeline/schemas.ts'
import {
  authorText,
  besideLines,
  headline,
  linesOf,
  marksText,
  missingText,
  PAGE,
  reading,
  type Tool,
} from './tool.ts'

const { minBytes, maxBytes } = fields.context

const contextInput = z.strictObject({
  about: task.meta({
    description: 'What you are about to do, in your own words or the user’s.',
  }),
  around,
  bytes: boundedInteger({ minimum: minBytes, maximum: maxBytes })
    .default(DEFAULT_BYTES)
    .meta({ description: 'The most that the answer may have.' }),
})

type Context = z.output<typeof contextSchema>
type OtherChange = NonNullable<Context['others']>[number]

const leftOutLine = ({ leftOut: { pinned, memories } }: Context): string =>
  pinned + memories > 0
    ? `Left out: ${pinned} pinned memories, and ${memories} others. list_memories has all.`
    : 'Nothing was left out.'

type FoundMemory = Context['found'][number]

type Item = Pick<FoundMemory, 'key' | 'version' | 'metadata' | 'protected'>

const itemLine = ({ key, version, metadata = {}, protected: isProtected }: Item): string =>
  `${key}, version ${version}${marksText(JSON.stringify(metadata), isProtected)}`

/** All of them are pinned. */
const pinnedLine = ({ metadata: { pinned: _, ...metadata } = {}, ...item }: Item): string =>
  itemLine({ ...item, metadata })

function foundText({ bytes, text, snippet, before, after, ...item }: FoundMemory): string {
  const line = `${itemLine(item)}, found`
  const head =
    text === undefined
      ? `${line}, ${bytes} bytes of which these are some:\n${snippet ?? ''}`
      : `${line}:\n${text}`
  return [head, ...besideLines({ before, after })].join('\n')
}

type Limit = Context['limits']['reads' | 'memories'] & object

/** A tenth or less is left. */
const isNear = ({ limit, left }: Omit<Limit, 'resetSeconds'>): boolean =>
  left !== null && left <= limit / 10

/** Undefined if no limit is near. */
function limitsText({ limits }: Context): string | undefined {
  const all: readonly [string, Limit | undefined][] = Object.entries(limits)
  const told = all.flatMap(([name, each]) =>
    each && isNear(each) ? `${each.left} of ${each.limit} ${name}` : [],
  )
  return told.length > 0 ? `Left before a limit: ${told.join(', ')}.` : undefined
}

const changeText = ({ bytes, text, snippet, ...item }: Context['changes'][number]): string =>
  text === undefined
    ? `${itemLine(item)}, ${bytes} bytes${snippet === undefined ? '' : ` that begin: ${snippet}`}`
    : `${itemLine(item)}:\n${text}`

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
    ...context.pinned.map(({ text, ...item }) => `${pinnedLine(item)}:\n${text}`),
    ...context.found.map(foundText),
    missingText(context.missing),
    othersText(context),
    ...context.changes.map(changeText),
    leftOutLine(context),
    limitsText(context),
  ]
    .filter((part) => part !== undefined)
    .join('\n\n')

export const getContext: Tool<typeof contextInput> = {
  ...reading,
  name: 'get_context',
  title: 'What to read first',
  description:
    'Call this first, and say in about what you are about to do. Returns who you are, your pinned memories whole, what you know about the task, what others changed since you were last here, and the newest other memories.',
  input: contextInput,
  async run(sent, { home, client, identity }) {
    const json = await contextOf(home, client, identity, { ...sent, since: 'mine', next: [] })
    return { text: contextText(parseExactly(json) as Context), json: () => json }
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
  description: 'Returns one memory whole. To change it, send its version as expectedVersion.',
  input: readInput,
  async run({ key, version }, { home, identity }) {
    const memory = await findAt(home, identity, key, version)
    const marks = marksText(memory.metadata, memory.protected)
    return {
      text: `${headline(memory)}${marks}\n\n${memory.text}`,
      json: () => `{"memory":${memoryJson(memory)}}`,
    }
  },
}

const NO_VERSION = 'No version is kept.'

const MOST_VERSIONS = 50

const historyInput = z.strictObject({
  key: memoryKey,
  before: integer({ minimum: 1 }).optional().meta(PAGE),
  limit: boundedInteger({ minimum: 1, maximum: MOST_VERSIONS }).default(20),
})

type Version = ReturnType<typeof versionView>

const versionLine = ({ version, operation, bytes, by, createdAt }: Version): string =>
  `version ${version}: ${operation}, ${bytes} bytes, ${createdAt}${authorText(by)}`

export const memoryHistory: Tool<typeof historyInput> = {
  ...reading,
  name: 'memory_history',
  title: 'List the versions of a memory',
  description:
    'Lists the versions of a memory and their authors, newest first, also of a deleted one. read_memory reads one, restore_memory brings one back.',
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
      json: () => JSON.stringify({ versions, next, renamedTo }),
    }
  },
}
