/**
 * The OpenAPI description as a program uses it: what can be sent and what comes back. Its sentences
 * and examples are recorded where the service answers with them.
 */

type Json = Readonly<Record<string, unknown>>

const SENTENCES = new Set(['description', 'summary', 'title', 'example', 'examples'])

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** `properties` names members; elsewhere the names are OpenAPI's own. */
function withoutSentences(value: unknown, names = false): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutSentences(item))
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(
    ([name, member]) => names || !SENTENCES.has(name) || (name === 'title' && isObject(member)),
  )
  return Object.fromEntries(
    kept.map(([name, member]) => [name, withoutSentences(member, name === 'properties')]),
  )
}

const COMPONENTS = new Set(['schemas', 'headers', 'parameters', 'securitySchemes', 'responses'])

/** A line for each operation's request, for each of its answers, and for each component. */
export function descriptionOf(body: string): string {
  const { paths, components, ...rest } = JSON.parse(body) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>
    readonly components: Readonly<Record<string, Json>>
  }
  const lines = [JSON.stringify(withoutSentences(rest))]
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const { responses = {}, ...asked } = withoutSentences(operation) as Record<string, Json>
      lines.push('', `${method.toUpperCase()} ${path} ${JSON.stringify(asked)}`)
      for (const [status, response] of Object.entries(responses)) {
        lines.push(`  ${status} ${JSON.stringify(response)}`)
      }
    }
  }
  for (const [kind, entries] of Object.entries(components)) {
    lines.push('')
    for (const [name, entry] of Object.entries(entries)) {
      const shown = COMPONENTS.has(kind) ? ` ${JSON.stringify(withoutSentences(entry))}` : ''
      lines.push(`${kind} ${name}${shown}`)
    }
  }
  return lines.join('\n')
}
