/**
 * Two runs of one agent read the same Markdown files at the same time, and each checkpoints the
 * sections that it has read into the one memory of that page. Neither knows of the other until a
 * write is answered with 409: then it reads, reconciles, and writes again. In the end every page
 * is whole, and the program checks that it is.
 *
 *   npx node examples/checkpoint.ts [address of the home] [directory with Markdown files]
 */
import { deepStrictEqual, strictEqual } from 'node:assert'
import { randomBytes } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const [home = 'http://127.0.0.1:8787', directory = '.'] = process.argv.slice(2)

/** A memory holds at most 16384 bytes of UTF-8. */
const PAGE_BYTES = 16_384

interface Page {
  readonly key: string
  readonly sections: readonly string[]
}

/** What a run believes to be stored: which sections of the page, at which version. */
interface Checkpoint {
  readonly version: number
  readonly sections: ReadonlyMap<number, string>
}

interface Memory {
  readonly text: string
  readonly version: number
  readonly metadata: { readonly sections: readonly number[] }
}

const sectionsOf = (markdown: string): string[] => markdown.split(/^(?=##+ )/m)

/** A file longer than a memory may be becomes several pages. */
function pagesOf(name: string, markdown: string): Page[] {
  const pages: string[][] = [[]]
  for (const section of sectionsOf(markdown)) {
    const page = pages.at(-1) ?? []
    if (Buffer.byteLength([...page, section].join('')) > PAGE_BYTES) pages.push([section])
    else page.push(section)
  }
  const key = name.replaceAll(/[^a-zA-Z0-9_.-]/g, '.')
  return pages.map((sections, i) => ({ key: i === 0 ? key : `${key}.${i + 1}`, sections }))
}

async function call(path: string, headers: Record<string, string>, body?: unknown) {
  const response = await fetch(home + path, {
    headers: { ...headers, 'content-type': 'application/json' },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  }).catch((cause: unknown) => {
    throw new Error(`no home answers at ${home}; npm start opens one`, { cause })
  })
  return { status: response.status, body: await response.json() }
}

const refused = ({ status, body }: { status: number; body: unknown }) =>
  new Error(`the home answered ${status}: ${JSON.stringify(body)}`)

async function birth(): Promise<string> {
  const born = await call(
    '/api/agents/birth',
    { 'idempotency-key': randomBytes(32).toString('hex') },
    {
      name: 'Reader',
      purpose: 'Reads Markdown and keeps what it has read.',
      symbol: 'pamyat',
      // Whoever starts this program is its operator.
      operatorConsent: true,
    },
  )
  if (born.status !== 201) throw refused(born)
  return born.body.token
}

async function read(token: string, key: string): Promise<Memory> {
  const found = await call(`/api/agents/me/memory?key=${key}`, { authorization: `Bearer ${token}` })
  if (found.status !== 200) throw refused(found)
  return found.body.memory
}

/** The new version, or undefined when the memory has another than was expected. */
async function write(token: string, key: string, { version, sections }: Checkpoint) {
  const ordered = [...sections].toSorted(([a], [b]) => a - b)
  const answer = await call(
    '/api/agents/me/memory',
    { authorization: `Bearer ${token}` },
    {
      key,
      text: ordered.map(([, section]) => section).join(''),
      metadata: { sections: ordered.map(([index]) => index) },
      expectedVersion: version,
    },
  )
  if (answer.status === 200) return (answer.body.memory as Memory).version
  if (answer.status === 409) return undefined
  throw refused(answer)
}

const stored = ({ version, text, metadata }: Memory): Checkpoint => {
  const sections = sectionsOf(text)
  return { version, sections: new Map(metadata.sections.map((i, at) => [i, sections[at] ?? ''])) }
}

const adding = ({ version, sections }: Checkpoint, index: number, section: string): Checkpoint => ({
  version,
  sections: new Map([...sections, [index, section]]),
})

/** Checkpoints the sections that fall to this run, and gives how many conflicts it reconciled. */
async function run(token: string, pages: readonly Page[], remainder: number): Promise<number> {
  let conflicts = 0
  for (const { key, sections } of pages) {
    let known: Checkpoint = { version: 0, sections: new Map() }
    for (const [index, section] of sections.entries()) {
      if (index % 2 !== remainder) continue
      let wanted = adding(known, index, section)
      let version = await write(token, key, wanted)
      while (version === undefined) {
        conflicts++
        wanted = adding(stored(await read(token, key)), index, section)
        version = await write(token, key, wanted)
      }
      known = { ...wanted, version }
    }
  }
  return conflicts
}

const files = globSync('{*.md,docs/*.md}', { cwd: directory }).toSorted()
const pages = files.flatMap((file) => pagesOf(file, readFileSync(join(directory, file), 'utf8')))
const token = await birth()
const conflicts = await Promise.all([run(token, pages, 0), run(token, pages, 1)])

for (const { key, sections } of pages) {
  const memory = await read(token, key)
  strictEqual(memory.text, sections.join(''), `${key} is whole`)
  deepStrictEqual(memory.metadata.sections, [...sections.keys()], `${key} has every section`)
  strictEqual(memory.version, sections.length, `${key} was written once for each section`)
}
const sections = pages.flatMap((page) => page.sections).length
console.log(
  `Two runs kept ${sections} sections of ${files.length} files in ${pages.length} memories. ` +
    `They met ${conflicts[0] + conflicts[1]} conflicts, and nothing was lost.`,
)
