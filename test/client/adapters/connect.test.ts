/** What the console has to copy is what the guides show, which are run. */

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
  ['javascript', 'README.md'],
] as const

const place = { url: 'http://127.0.0.1:8787', token: 'aha_key' }

const textOf = (id: string, name: string): string | undefined =>
  clients
    .find((each: Client) => each.id === id)
    ?.steps(place)
    .find((step) => step.name === name)?.text

const firstBlock = (path: string, language: string): string | undefined =>
  new RegExp(`^\`\`\`${language}\\n(.*?)\\n\`\`\`$`, 'ms').exec(
    readFileSync(join(root, path), 'utf8'),
  )?.[1]

describe.each(guides)('%s', (id, path) => {
  test('its program is the first one of its guide', () => {
    expect(textOf(id, 'program.mts')).toBe(firstBlock(path, 'ts'))
  })

  test('is installed as its guide says', () => {
    const guide = id === 'javascript' ? 'clients/typescript/README.md' : path
    expect(textOf(id, 'installation')).toBe(firstBlock(guide, 'sh'))
  })
})

test('the client has the version that its tarball is named by', () => {
  expect(manifest.version).toBe(VERSION)
})
