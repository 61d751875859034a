/** Parts of a JSON text as they stand in it: what is hashed is the text, not what it means. */

const SPACE = /[\t\n\r ]*/y
const STRING = /"(?:[^"\\]|\\.)*"/y
const SCALAR = /[^\t\n\r ,\]}]+/y
/** Up to the next string or bracket. */
const PLAIN = /[^"[\]{}]*/y

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  if (!pattern.test(text)) throw new SyntaxError('The JSON is incomplete.')
  return pattern.lastIndex
}

/** The index after the value that begins here. */
function endOfValue(text: string, start: number): number {
  const first = text[start]
  if (first === '"') return endOf(STRING, text, start)
  if (first !== '{' && first !== '[') return endOf(SCALAR, text, start)
  let at = start
  for (let depth = 0; ; ) {
    at = endOf(PLAIN, text, at)
    const met = text[at]
    if (met === '"') {
      at = endOf(STRING, text, at)
      continue
    }
    if (met === undefined) throw new SyntaxError('The JSON is incomplete.')
    depth += met === '{' || met === '[' ? 1 : -1
    at++
    if (depth === 0) return at
  }
}

/** Steps over white space, and this character if it is there. */
function after(text: string, at: number, character = ''): { readonly at: number; met: boolean } {
  const here = endOf(SPACE, text, at)
  const met = character !== '' && text[here] === character
  return { at: met ? endOf(SPACE, text, here + 1) : here, met }
}

function open(text: string, bracket: string): number {
  const { at, met } = after(text, 0, bracket)
  if (!met) throw new SyntaxError(`The JSON does not begin with ${bracket}.`)
  return at
}

/** The elements of an array, in order. */
export function* elementsOf(text: string): Generator<string> {
  for (let at = open(text, '['); text[at] !== ']'; ) {
    const end = endOfValue(text, at)
    yield text.slice(at, end)
    at = after(text, end, ',').at
  }
}

/** The members of an object: names, and values as they stand. */
export function membersOf(text: string): Map<string, string> {
  const members = new Map<string, string>()
  let at = open(text, '{')
  while (text[at] !== '}') {
    const named = endOf(STRING, text, at)
    const name = JSON.parse(text.slice(at, named)) as string
    const from = after(text, named, ':').at
    const end = endOfValue(text, from)
    if (members.has(name)) throw new SyntaxError(`The JSON has ${name} twice.`)
    members.set(name, text.slice(from, end))
    at = after(text, end, ',').at
  }
  if (after(text, at + 1).at < text.length)
    throw new SyntaxError('The JSON has something after it.')
  return members
}

/** An object that has at least these members: whole numbers and strings. */
export function objectIn<Shape extends object>(
  text: string,
  numbers: readonly (keyof Shape & string)[] = [],
  strings: readonly (keyof Shape & string)[] = [],
): Shape {
  open(text, '{')
  const value = JSON.parse(text) as Shape
  const isNone =
    numbers.find((name) => !Number.isSafeInteger(value[name])) ??
    strings.find((name) => typeof value[name] !== 'string')
  if (isNone !== undefined) throw new SyntaxError(`The JSON lacks ${isNone}, or it is invalid.`)
  return value
}

/** RFC 8785, for what events hold: strings, whole numbers, objects. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  const written = members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`)
  return `{${written.join(',')}}`
}
