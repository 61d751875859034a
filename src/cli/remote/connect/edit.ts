/** Changes to the files of other programs that leave the rest of each as it is, and take themselves back. */
import { isDeepStrictEqual } from 'node:util'
import {
  applyEdits,
  findNodeAtLocation,
  type JSONPath,
  modify,
  type Node,
  type ParseError,
  parse,
  parseTree,
} from 'jsonc-parser'
import { parse as parseToml } from 'smol-toml'

export type Json = string | number | boolean | readonly Json[] | { readonly [name: string]: Json }

type Path = readonly string[]

/** Members and items of a JSON file. */
export interface JsonEdit {
  readonly kind: 'json'
  readonly set: readonly (readonly [Path, Json])[]
  /** Items of arrays, which have others too. */
  readonly add: readonly (readonly [Path, Json])[]
  /** Members that a new file needs, and an existing one keeps. */
  readonly initial?: Readonly<Record<string, Json>>
  /** Whether an item or a member was written by an earlier run. */
  readonly isOwn: (text: string) => boolean
}

/** A table at the end of a TOML file. */
export interface TomlEdit {
  readonly kind: 'toml'
  readonly path: Path
  readonly table: Readonly<Record<string, Json>>
  readonly isOwn: (text: string) => boolean
}

export type Edit =
  | JsonEdit
  | TomlEdit
  /** A file of ours alone. */
  | { readonly kind: 'text'; readonly text: string }

/** Why a file cannot be changed, as the end of a sentence that begins with its name. */
export class Unusable extends Error {}

const BOM = '\ufeff'

const newlineOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n')

/** Splits off the byte order mark, which parsers take for a character. */
const withoutMark = (text: string): readonly [mark: string, body: string] =>
  text.startsWith(BOM) ? [BOM, text.slice(1)] : ['', text]

function formatOf(text: string) {
  const [, indent = '  '] = /^([ \t]+)\S/m.exec(text) ?? []
  const formattingOptions = {
    insertSpaces: !indent.includes('\t'),
    tabSize: indent.length,
    // Where the file has none.
    eol: '\n',
  }
  return { formattingOptions }
}

const LENIENT = { allowTrailingComma: true }

/** Throws Unusable. */
function treeOf(text: string): Node {
  const errors: ParseError[] = []
  const tree = parseTree(text, errors, LENIENT)
  const [first] = errors
  if (first) {
    const line = text.slice(0, first.offset).split('\n').length
    throw new Unusable(`is not JSON (line ${line})`)
  }
  if (tree?.type !== 'object') throw new Unusable('is not a JSON object')
  return tree
}

const nodeAt = (text: string, path: Path): Node | undefined =>
  findNodeAtLocation(treeOf(text), [...path])

const valueAt = (text: string, path: Path): unknown =>
  path.reduce<unknown>(
    (value, name) => (value as Readonly<Record<string, unknown>> | undefined)?.[name],
    parse(text, [], LENIENT),
  )

/** Throws Unusable where something else than objects, and `last` at the end, is in the way. */
function requireKinds(text: string, path: Path, last: 'object' | 'array'): void {
  for (let depth = 1; depth <= path.length; depth += 1) {
    const kind = depth === path.length ? last : 'object'
    const found = nodeAt(text, path.slice(0, depth))
    if (found && found.type !== kind)
      throw new Unusable(`has something else than an ${kind} at ${path.slice(0, depth).join('.')}`)
  }
}

/** Every part of a path, the longest first. */
const partsOf = (path: Path): readonly Path[] =>
  path.map((_, at) => path.slice(0, at + 1)).reverse()

/** A comment on the line of the last member would seem to speak of what follows it. */
const endsInComment = (text: string, last: Node | undefined): boolean =>
  last !== undefined && /^[ \t]*,?[ \t]*\/[/*]/.test(text.slice(last.offset + last.length))

function setMember(text: string, path: Path, value: Json): string {
  requireKinds(text, path.slice(0, -1), 'object')
  if (isDeepStrictEqual(valueAt(text, path), value)) return text
  const containers = [...partsOf(path.slice(0, -1)), []]
  const nearest = containers.map((each) => nodeAt(text, each)).find(Boolean)
  const isFirst = endsInComment(text, nearest?.children?.at(-1))
  return applyEdits(
    text,
    modify(text, [...path], value, {
      ...formatOf(text),
      getInsertionIndex: (names) => (isFirst ? 0 : names.length),
    }),
  )
}

const removed = (text: string, path: JSONPath): string =>
  applyEdits(text, modify(text, path, undefined, formatOf(text)))

const itemsAt = (text: string, path: Path): readonly unknown[] => {
  const found = valueAt(text, path)
  return Array.isArray(found) ? found : []
}

function withoutItems(text: string, path: Path, isOurs: (item: unknown) => boolean): string {
  const places = itemsAt(text, path).flatMap((item, at) => (isOurs(item) ? [at] : []))
  return places.reduceRight((left, at) => removed(left, [...path, at]), text)
}

function addItem(text: string, path: Path, item: Json): string {
  requireKinds(text, path, 'array')
  const items = nodeAt(text, path)?.children
  if (!items) return setMember(text, path, [item])
  if (itemsAt(text, path).some((each) => isDeepStrictEqual(each, item))) return text
  const at = endsInComment(text, items.at(-1)) ? 0 : items.length
  const options = { ...formatOf(text), isArrayInsertion: true }
  return applyEdits(text, modify(text, [...path, at], item, options))
}

const isOurs =
  ({ isOwn, add }: JsonEdit, path: Path) =>
  (item: unknown): boolean =>
    isOwn(JSON.stringify(item)) ||
    add.some(([at, each]) => isDeepStrictEqual(at, path) && isDeepStrictEqual(each, item))

function applyJson(edit: JsonEdit, body: string): string {
  const isNew = body.trim() === ''
  let text = isNew ? '{}' : body
  if (isNew)
    for (const [name, value] of Object.entries(edit.initial ?? {}))
      text = setMember(text, [name], value)
  for (const [path, value] of edit.set) text = setMember(text, path, value)
  for (const [path] of edit.add) {
    const wanted = edit.add.filter(([at]) => isDeepStrictEqual(at, path)).map(([, each]) => each)
    const isStale = (item: unknown) =>
      edit.isOwn(JSON.stringify(item)) && !wanted.some((each) => isDeepStrictEqual(each, item))
    text = withoutItems(text, path, isStale)
  }
  for (const [path, item] of edit.add) text = addItem(text, path, item)
  // A member that is there twice is changed at its first place and read at its last.
  const isThere =
    edit.set.every(([path, value]) => isDeepStrictEqual(valueAt(text, path), value)) &&
    edit.add.every(([path, item]) =>
      itemsAt(text, path).some((each) => isDeepStrictEqual(each, item)),
    )
  if (!isThere) throw new Unusable('has a member twice')
  return isNew ? `${text}\n` : text
}

function stripJson(edit: JsonEdit, body: string, before: string): string {
  let text = body
  const original = before.trim() === '' ? '{}' : before
  for (const [path] of edit.add) text = withoutItems(text, path, isOurs(edit, path))
  for (const [path, value] of edit.set) {
    const found = valueAt(text, path)
    const isSame = isDeepStrictEqual(found, value) || edit.isOwn(JSON.stringify(found) ?? '')
    if (!isSame) continue
    const former = valueAt(original, path)
    text = former === undefined ? removed(text, [...path]) : setMember(text, path, former as Json)
  }
  const containers = [...edit.add.map(([at]) => at), ...edit.set.map(([at]) => at.slice(0, -1))]
  for (const path of containers.flatMap(partsOf)) {
    const isEmpty = nodeAt(text, path)?.children?.length === 0
    if (isEmpty && valueAt(original, path) === undefined) text = removed(text, [...path])
  }
  return text
}

const BEGIN = '# Written by agent-home connect, which takes it out with --remove.'

type Table = Readonly<Record<string, Json>>

/** Throws Unusable. The parser's own message quotes the file. */
function tomlOf(text: string): unknown {
  try {
    return parseToml(text)
  } catch {
    throw new Unusable('is not TOML')
  }
}

const tableAt = (text: string, path: Path): unknown =>
  path.reduce<unknown>(
    (value, name) => (value as Readonly<Record<string, unknown>> | undefined)?.[name],
    tomlOf(text),
  )

/** The name in the header of a table. */
const headerOf = (line: string): string | undefined =>
  /^\s*\[+([^[\]]+)\]/.exec(line)?.[1]?.replaceAll(/[\s"']/g, '')

const isQuiet = (line: string): boolean => /^\s*(#.*)?$/.test(line)

/** Without the table and those below it. Programs that write the file move comments about. */
function withoutTable(body: string, path: Path): string {
  const name = path.join('.')
  const left: string[] = []
  // Blank lines and comments at the end of the table may belong to what follows.
  let held: string[] = []
  let isInside = false
  for (const line of body.split('\n')) {
    const header = headerOf(line)
    if (line.trim() === BEGIN) {
      if (left.at(-1)?.trim() === '') left.pop()
    } else if (header === undefined && isInside) {
      held = isQuiet(line) ? [...held, line] : []
    } else {
      isInside = header === undefined ? isInside : header === name || header.startsWith(`${name}.`)
      if (!isInside) left.push(...held, line)
      held = []
    }
  }
  return [...left, ...held].join('\n')
}

const isOurTable = ({ isOwn }: TomlEdit, found: unknown): boolean =>
  found !== undefined && isOwn(JSON.stringify(found))

function stripToml(edit: TomlEdit, body: string): string {
  if (!isOurTable(edit, tableAt(body, edit.path))) return body
  const left = withoutTable(body, edit.path)
  if (tableAt(left, edit.path) === undefined) return left
  throw new Unusable(`has ${edit.path.join('.')} in another form: remove it`)
}

/** Strings and arrays of them are written the same in TOML as in JSON. */
const linesOf = (path: Path, table: Table): readonly string[] => [
  ...[BEGIN, `[${path.join('.')}]`],
  ...Object.entries(table).map(([name, value]) => `${name} = ${JSON.stringify(value)}`),
]

function applyToml(edit: TomlEdit, body: string): string {
  const { path, table } = edit
  const found = { ...(tableAt(body, path) as object | undefined) }
  // What the program keeps of the server beside it, such as permissions, stays.
  if (isDeepStrictEqual({ ...found, ...table }, found)) return body
  const rest = stripToml(edit, body)
  const name = path.join('.')
  if (tableAt(rest, path) !== undefined)
    throw new Unusable(`already has the table ${name}: remove it`)
  const newline = newlineOf(body)
  const open = rest === '' || rest.endsWith('\n') ? '' : newline
  const gap = rest === '' ? '' : newline
  const text = `${rest}${open}${gap}${linesOf(path, table).join(newline)}${newline}`
  try {
    parseToml(text)
  } catch {
    throw new Unusable(`takes no table ${name} at its end`)
  }
  return text
}

/** The text with the change, the same if it has it already. Throws Unusable. */
export function applied(edit: Edit, text = ''): string {
  if (edit.kind === 'text') return edit.text
  const [mark, body] = withoutMark(text)
  return mark + (edit.kind === 'json' ? applyJson(edit, body) : applyToml(edit, body))
}

/** The text without the change, where others changed it since. `before`: as it was. */
export function stripped(edit: Edit, text: string, before = ''): string {
  if (edit.kind === 'text') return text
  const [mark, body] = withoutMark(text)
  return (
    mark +
    (edit.kind === 'json' ? stripJson(edit, body, withoutMark(before)[1]) : stripToml(edit, body))
  )
}
