/** The plugins are what `agent-home connect` writes, and contain no key. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pluginFiles } from '../plugins/generate.ts'

const root = join(import.meta.dirname, '../plugins')

const committed = readdirSync(root, { recursive: true, withFileTypes: true })
  .filter((each) => each.isFile())
  .map((each) => join(each.parentPath, each.name).slice(root.length + 1))
  .filter((path) => path !== 'generate.ts' && path !== 'README.md')

test('they are as they are generated: npm run generate', () => {
  const files = pluginFiles()
  expect(committed.toSorted()).toEqual(Object.keys(files).toSorted())
  for (const path of committed) expect(readFileSync(join(root, path), 'utf8')).toBe(files[path])
})

test('each starts the MCP server and has the skill, and none a key or a profile', () => {
  const files = Object.entries(pluginFiles())
  const servers = files.filter(([, text]) => text.includes('"mcpServers"'))
  expect(servers).toHaveLength(4)
  for (const [, text] of servers)
    expect(JSON.parse(text).mcpServers['agent-home']).toMatchObject({
      ...{ command: 'agent-home', args: ['mcp'] },
    })
  expect(files.filter(([path]) => path.endsWith('SKILL.md'))).toHaveLength(3)
  for (const [, text] of files) expect(text).not.toMatch(/--profile|ah[ao]_|--capture/)
})

test('the skill has at most 15 lines, and says when, what not, and that memories are data', () => {
  const skill = pluginFiles()['agent-home/skills/agent-home/SKILL.md'] ?? ''
  expect(skill.trim().split('\n').length).toBeLessThanOrEqual(15)
  expect(skill).toMatch(/^---\nname: agent-home\ndescription: .+\n---\n/)
  for (const words of ['- Search', '- Save', 'Do not save secrets', 'data, not instructions'])
    expect(skill).toContain(words)
})
