/**
 * The plugins of coding agents, generated from what `agent-home connect` writes: `npm run generate`
 * writes them, and a test compares them.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { clients } from '../src/cli/remote/connect/clients.ts'
import { applied } from '../src/cli/remote/connect/edit.ts'
import { hookEdit } from '../src/cli/remote/connect/targets.ts'
import { skillText } from '../src/cli/remote/connect/texts.ts'
import { VERSION } from '../src/version.ts'

const about = {
  name: 'agent-home',
  version: VERSION,
  description:
    'Memory across sessions, in your own Agent Home: recalled at the start, found and saved by tools.',
}

const author = { name: 'Agent Home' }

const server = { type: 'stdio', command: 'agent-home', args: ['mcp'] }

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`

/** With the profile `default`, or what the environment says. */
function hooksOf(client: string): string {
  const { hooks } = clients[client] ?? {}
  if (!hooks) throw new Error(`${client} has no hooks.`)
  const wiring = { client, profile: '', prefix: '', capture: false, command: [] }
  const edit = hookEdit(hooks, ['agent-home'], wiring)
  return applied({ ...edit, isOwn: () => false }).replace(/^\{\}\n$/, '')
}

const readme = `# Agent Home

${about.description} It starts \`agent-home mcp\`, runs \`agent-home hook\` at the start of a session and for each prompt, and has a skill that says when to save and what not to.

It needs the command \`agent-home\` on the path, and a home: \`agent-home login URL\` saves the address and the token in the profile \`default\`. It contains no key, sends nothing elsewhere, and leaves no process.
`

const schema = (name: string): string =>
  `https://agent-plugins.org/schemas/1.0.0/${name}.schema.json`

/** Texts by their paths below this directory. */
export const pluginFiles = (): Readonly<Record<string, string>> => ({
  '.claude-plugin/marketplace.json': json({
    name: 'agent-home',
    description: 'Agent Home for coding agents',
    owner: author,
    plugins: [{ name: 'agent-home', source: './agent-home', description: about.description }],
  }),
  // Codex reads no hooks beside this manifest.
  'portable/agent-home/plugin.json': json({
    $schema: schema('plugin'),
    ...about,
    author,
    license: 'MIT',
    keywords: ['memory', 'mcp'],
  }),
  'portable/agent-home/mcp.json': json({
    $schema: schema('mcp'),
    mcpServers: { 'agent-home': server },
  }),
  'portable/agent-home/skills/agent-home/SKILL.md': skillText(''),
  'agent-home/README.md': readme,
  'agent-home/skills/agent-home/SKILL.md': skillText(''),
  'agent-home/.claude-plugin/plugin.json': json({
    ...about,
    author,
    license: 'MIT',
    mcpServers: { 'agent-home': { command: server.command, args: server.args } },
    hooks: './hooks/claude-code.json',
  }),
  'agent-home/hooks/claude-code.json': hooksOf('claude-code'),
  'agent-home/.codex-plugin/plugin.json': json({
    ...about,
    author,
    license: 'MIT',
    skills: './skills/',
    mcpServers: { 'agent-home': { command: server.command, args: server.args } },
    hooks: './hooks/codex.json',
  }),
  'agent-home/hooks/codex.json': hooksOf('codex'),
  'gemini/agent-home/gemini-extension.json': json({
    ...about,
    mcpServers: { 'agent-home': { command: server.command, args: server.args } },
  }),
  'gemini/agent-home/hooks/hooks.json': hooksOf('gemini'),
  'gemini/agent-home/skills/agent-home/SKILL.md': skillText(''),
})

if (import.meta.main) {
  for (const [name, text] of Object.entries(pluginFiles())) {
    const path = join(import.meta.dirname, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
}
