/** The console shows the programs of the guides, which are run, and installs what they need. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import manifest from '../../../clients/typescript/package.json' with { type: 'json' }
import { VERSION } from '../../../src/version.ts'
import { type Client, clients } from '../../../src/web/console/agent/clients.ts'

const root = join(import.meta.dirname, '../../..')

const guides = [
  ['ai-sdk', 'docs/adapters/ai-sdk.md'],
  ['anthropic', 'docs/adapters/anthropic.md'],
  ['langgraph', 'docs/adapters/langgraph.md'],
  ['openai-agents', 'docs/adapters/openai.md'],
  ['javascript', 'clients/typescript/README.md'],
] as const

const place = { url: 'http://127.0.0.1:8787', token: 'aha_key' }

const textOf = (id: string, name: string): string | undefined =>
  clients
    .find((each: Client) => each.id === id)
    ?.steps(place)
    .find((step) => step.name === name)?.text

describe.each(guides)('%s', (id, path) => {
  test('its program imports the client, and its adapter', () => {
    const entry = id === 'openai-agents' ? 'openai' : id
    const modules = id === 'javascript' ? [''] : ['', `/${entry}`]
    const imported = [
      ...(textOf(id, 'program.mts') ?? '').matchAll(/ from 'agent-home-client(.*)'$/gm),
    ]
    expect(imported.map(([, each]) => each)).toEqual(modules)
  })

  test('is installed as its guide says', () => {
    const guide = readFileSync(join(root, path), 'utf8')
    expect(textOf(id, 'installation')).toBe(/^```sh\n(.*?)\n```$/ms.exec(guide)?.[1])
  })
})

test('the client has the version that its tarball is named by', () => {
  expect(manifest.version).toBe(VERSION)
})
