/**
 * What is not mutated, for to find it unchanged would say nothing about a promise: descriptions of
 * the interface (a test compares them with the answers), sentences and labels for people (their
 * wording is not a promise, their escaping is), and the names of prepared statements.
 */

interface Node {
  readonly type: string
  readonly [member: string]: unknown
}

interface Path {
  readonly node: Node
  readonly key: unknown
  readonly listKey: unknown
  readonly parentPath: Path | null
}

const nodeOf = (value: unknown): Node | undefined =>
  typeof value === 'object' && value !== null ? (value as Node) : undefined

const nameOf = (value: unknown): string => {
  const node = nodeOf(value)
  return String(node?.name ?? nodeOf(node?.property)?.name ?? '')
}

/** Of endpoints: what only their description shows. */
const DESCRIPTIONS = /^(docs|summary|description|example|operationId|tag|answers|security)$/

/** Types of what is only described: which errors an endpoint answers with, and its description. */
const DESCRIBED = /"name":"ErrorCode"/

const WORDS = /^(title|label|hint|message|detail)$/

/** Calls whose literal arguments are descriptions or sentences. */
const SPEAKING = /^(meta|Error|malformed)$/

/** Zod's rules begin their sentence so. */
const RULE = /^must /

function isText({ type }: Node): boolean {
  return type === 'StringLiteral' || type === 'TemplateLiteral'
}

function isListOfNames({ elements }: Node): boolean {
  return Array.isArray(elements) && elements.every((each) => nodeOf(each)?.type === 'StringLiteral')
}

function ofProperty({ node, parentPath }: Path): boolean {
  const parent = parentPath?.node
  if (parent?.type !== 'ObjectProperty' || parent.value !== node) return false
  const name = nameOf(parent.key)
  if (name === 'errors') return isListOfNames(node)
  return DESCRIPTIONS.test(name) || (WORDS.test(name) && isText(node))
}

function ofDeclaration({ node, parentPath }: Path): boolean {
  if (node.type === 'FunctionDeclaration') return DESCRIBED.test(JSON.stringify(node.returnType))
  const parent = parentPath?.node
  if (parent?.type !== 'VariableDeclarator' || parent.init !== node) return false
  return DESCRIBED.test(JSON.stringify(nodeOf(parent.id)?.typeAnnotation))
}

function ofCall({ node, key, listKey, parentPath }: Path): boolean {
  const parent = parentPath?.node
  if (listKey !== 'arguments' || !parent) return false
  const callee = nameOf(parent.callee)
  return SPEAKING.test(callee) || (callee === 'statement' && key === 0 && isText(node))
}

const isRule = ({ node }: Path): boolean =>
  node.type === 'StringLiteral' && RULE.test(String(node.value))

const isNoise = (path: Path): boolean =>
  ofProperty(path) || ofDeclaration(path) || ofCall(path) || isRule(path)

export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'noise',
    value: { shouldIgnore: (path: Path) => (isNoise(path) ? 'noise' : undefined) },
  },
]
