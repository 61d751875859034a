import { expect, test } from 'vitest'
import { catalogue } from '../src/errors.ts'

const introduction = `# Errors

Every refusal is \`application/problem+json\` (RFC 9457): \`type\` (\`/problems/<code>\`, a page that says what this one says), \`title\`, \`status\`, \`detail\`, \`instance\` (the request id) and \`code\`. Codes never change their meaning.

\`invalid_body\` and \`invalid_query\` add \`errors\`, a list of \`{ pointer, message }\`; \`version_conflict\` adds \`currentVersion\`, \`updatedAt\` and \`sameContent\`. 429 and 503 carry \`Retry-After\` in seconds.
`

const escaped = (text: string): string => text.replace(/[<_]/g, '\\$&')

const sections = Object.entries(catalogue).map(
  ([code, { status, title, detail }]) =>
    `\n## ${status} \`${code}\`\n\n${title}. ${escaped(detail)}\n`,
)

/** To write the page anew: npx vitest run test/errors.test.ts -u */
test('docs/errors.md is the catalogue of errors', async () => {
  await expect(introduction + sections.join('')).toMatchFileSnapshot('../docs/errors.md')
})

test('the catalogue is ordered by status, so that the page is', () => {
  const statuses = Object.values(catalogue).map(({ status }) => status)
  expect(statuses).toEqual(statuses.toSorted((a, b) => a - b))
})
