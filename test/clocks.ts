/** Finds what a test says of a clock: how long something took, which is the machine's own affair. */
import { parseAst } from 'vitest/node'

interface Node {
  readonly type: string
  readonly [member: string]: unknown
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

const childrenOf = (node: Node): Node[] => Object.values(node).flat().filter(isNode)

const isFunction = ({ type }: Node): boolean => /Function/.test(type)

/** Itself and what lies in it, but not what other functions do that are written there. */
function* within(node: Node): Generator<Node> {
  yield node
  for (const child of childrenOf(node)) if (!isFunction(child)) yield* within(child)
}

function* everything(node: Node): Generator<Node> {
  yield node
  for (const child of childrenOf(node)) yield* everything(child)
}

const nameOf = (node: unknown): string => {
  if (!isNode(node)) return ''
  if (node.type === 'MemberExpression') return nameOf(node.property)
  return typeof node.name === 'string' ? node.name : ''
}

const sourceOf = (node: unknown): string => {
  if (!isNode(node)) return ''
  return node.type === 'MemberExpression'
    ? `${sourceOf(node.object)}.${nameOf(node.property)}`
    : nameOf(node)
}

/** Asked for how long something takes. The time of day is one of them where it is subtracted. */
const CLOCKS = /(^|\.)(performance\.now|hrtime|hrtime\.bigint|(threadC|c)puUsage|threadMs)$/
const PROCESSOR = /(^|\.)(processorMs|longestWait|leastWork|eventLoopUtilization)$/
const DAY = /(^|\.)Date\.now$/

/** To parse every file takes long. */
const MENTIONED =
  /performance|hrtime|Date\.now|puUsage|threadMs|processorMs|longestWait|leastWork|Utilization/

const calls = (node: Node, what: RegExp): boolean =>
  node.type === 'CallExpression' && what.test(sourceOf(node.callee))

const isSpan = (node: Node): boolean =>
  node.type === 'BinaryExpression' &&
  node.operator === '-' &&
  [...within(node)].some((each) => calls(each, DAY))

/** Names that stand for a time, whatever they are the names of. */
type Times = ReadonlySet<string>

const tells = (node: Node, times: Times): boolean =>
  [...within(node)].some(
    (each) =>
      calls(each, CLOCKS) ||
      calls(each, PROCESSOR) ||
      isSpan(each) ||
      (each.type === 'Identifier' && times.has(nameOf(each))),
  )

/** What a function gives back, in so far as it is one value. */
const returned = (body: Node): Node[] =>
  body.type === 'BlockStatement'
    ? [...within(body)].flatMap(({ type, argument }) =>
        type === 'ReturnStatement' && isNode(argument) ? [argument] : [],
      )
    : [body]

const isTime = (value: unknown, times: Times): boolean => {
  if (!isNode(value) || value.type === 'ObjectExpression') return false
  if (!isFunction(value)) return tells(value, times)
  return isNode(value.body) && returned(value.body).some((each) => isTime(each, times))
}

/** `const a = …`, `const { a } = …`, `a = …`, `{ a: … }`, `a.push(…)`: what is given which names. */
function named(node: Node): readonly [names: readonly string[], value: unknown] | undefined {
  if (node.type === 'VariableDeclarator' && isNode(node.id)) {
    return [[...everything(node.id)].map(nameOf), node.init]
  }
  if (node.type === 'AssignmentExpression') return [[nameOf(node.left)], node.right]
  if (node.type === 'Property') return [[nameOf(node.key)], node.value]
  if (node.type === 'FunctionDeclaration') return [[nameOf(node.id)], node]
  if (node.type !== 'CallExpression' || nameOf(node.callee) !== 'push') return undefined
  const [value] = childrenOf({ type: '', list: node.arguments })
  return isNode(node.callee) ? [[nameOf(node.callee.object)], value] : undefined
}

function timesIn(program: Node): Times {
  const pairs = [...everything(program)].flatMap((node) => {
    const pair = named(node)
    return pair ? [pair] : []
  })
  const times = new Set<string>()
  for (let before = -1; before < times.size; ) {
    before = times.size
    for (const [names, value] of pairs) {
      if (isTime(value, times)) for (const name of names) if (name) times.add(name)
    }
  }
  return times
}

/** The `expect(…)` that a matcher is called of. */
function expected(node: unknown): Node | undefined {
  if (!isNode(node)) return undefined
  if (node.type === 'MemberExpression') return expected(node.object)
  return node.type === 'CallExpression' && nameOf(node.callee) === 'expect' ? node : undefined
}

/** Where a time is held against anything but another time. */
export function timed(text: string): readonly string[] {
  if (!MENTIONED.test(text)) return []
  const program: unknown = parseAst(text, { lang: 'ts' })
  if (!isNode(program)) return []
  const times = timesIn(program)
  return [...everything(program)].flatMap((node) => {
    if (node.type !== 'CallExpression' || !isNode(node.callee)) return []
    const subject = expected(node.callee)
    if (!subject || subject === node) return []
    const list = (each: Node): Node => ({ type: '', list: each.arguments })
    if (!tells(list(subject), times) || tells(list(node), times)) return []
    const { start, end } = node
    return [text.slice(Number(start), Number(end))]
  })
}
