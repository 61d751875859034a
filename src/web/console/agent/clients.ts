/** The clients that the console connects, with the very text that each takes. */
import { html } from 'hono/html'
import { lazily } from '../../../lazily.ts'
import { readProgramFile } from '../../../program-files.ts'
import { VERSION } from '../../../version.ts'
import { type Html, nothing } from '../../layout/page.ts'

/** What the texts are filled in with. */
export interface Place {
  readonly url: string
  readonly token: string
}

export interface Step {
  readonly say: Html
  /** The name of the text, for screen readers. */
  readonly name?: string
  /** To be copied as it stands. */
  readonly text?: string
}

interface Named {
  /** In addresses. */
  readonly id: string
  readonly name: string
  /** How it is connected, in a few words. */
  readonly how: string
}

export interface Client extends Named {
  /** It signs in by the address alone, and no key is made for it. */
  readonly signsIn?: boolean
  readonly steps: (place: Place) => readonly Step[]
}

const ROOT = import.meta.url.endsWith('.ts') ? '../../../../' : './guides/'

const readGuide = (guide: string): string => readProgramFile(ROOT + guide, import.meta.url)

/** The block of code that begins so, in a guide whose code is tested. `start`: a regular expression. */
const shownIn = (guide: string, start: string) =>
  lazily(() => new RegExp(`^${start}\\n(.*?)\\n\`\`\`$`, 'ms').exec(readGuide(guide))?.[1] ?? '')

interface Configured extends Named {
  readonly file: string
  readonly say: Html
  /** What has to be there first. */
  readonly first?: readonly Step[]
}

/** By MCP, as docs/mcp.md configures it. */
function byConfiguration({ file, say, first = [], ...client }: Configured): Client {
  const code = shownIn('docs/mcp.md', `\\*\\*${client.name}\\*\\*.*?^\`\`\`\\w+`)
  const filled = ({ url, token }: Place): string =>
    code()
      .replaceAll('http://127.0.0.1:8787', () => url)
      .replaceAll('aha_YOUR_KEY', () => token)
  return { ...client, steps: (place) => [...first, { say, name: file, text: filled(place) }] }
}

const byAddress = ({ say, ...client }: Omit<Named, 'how'> & { readonly say: Html }): Client => ({
  ...client,
  how: 'By its address; on the web and on phones',
  signsIn: true,
  steps: ({ url }) => [
    { say, name: 'address', text: `${url}/mcp` },
    {
      say: html`It sends you here to sign in and to choose what it may do. What you grant is a named key, which is listed and revoked under Keys.`,
    },
  ],
})

const tarball = (name: string, build: string): Html =>
  html`It is not in a registry: in a checkout, <code>${build}</code> makes <code>${name}-${VERSION}.tgz</code>.`

const command: Step = {
  say: html`Install the command <code>agent-home</code>, for Node.js 24.15 or newer. ${tarball('agent-home', 'npm run build && npm pack')}`,
  name: 'installation',
  text: `npm install -g ./agent-home-${VERSION}.tgz`,
}

/** A file, because what is typed in a shell stays in its history. */
const environment = ({ url, token }: Place): Step => ({
  say: html`Save this as <code>.env</code>, readable by you alone and out of version control.`,
  name: '.env',
  text: `AGENT_HOME_URL=${url}
AGENT_HOME_TOKEN=${token}`,
})

interface Programmed extends Named {
  readonly code: () => string
  readonly packages?: string
  /** A variable of the environment. */
  readonly needs?: string
}

/** The first program of a guide. */
const programOf = (guide: string) => shownIn(guide, '```ts')

/** `update` writes again if another writer was first. */
const PROGRAM = `import { AgentHome } from 'agent-home-client'

const home = new AgentHome() // AGENT_HOME_URL and AGENT_HOME_TOKEN
await home.update('plan', (current) => \`\${current?.text ?? ''}Step 1\\n\`)`

/** By the client for JavaScript. */
function byProgram({ code, packages, needs, ...client }: Programmed): Client {
  const steps = (place: Place): readonly Step[] => [
    {
      say: html`Install the client${packages ? html` beside <code>${packages}</code>` : nothing}. ${tarball('agent-home-client', 'npm run build -w agent-home-client && npm pack ./clients/typescript/dist')}`,
      name: 'installation',
      text: `npm install ./agent-home-client-${VERSION}.tgz${packages ? ` ${packages}` : ''}`,
    },
    environment(place),
    {
      say: html`Save this as <code>program.mts</code> and run <code>node --env-file=.env program.mts</code> (Node.js 22.18 or newer)${needs ? html`, with <code>${needs}</code> in the environment` : nothing}.`,
      name: 'program.mts',
      text: code(),
    },
  ]
  return { ...client, steps }
}

export const clients: readonly Client[] = [
  byConfiguration({
    id: 'claude-code',
    name: 'Claude Code',
    how: 'MCP, in one project',
    file: '.mcp.json',
    say: html`Save this as <code>.mcp.json</code> in the folder of your project, out of version control, and start <code>claude</code> there.`,
  }),
  byConfiguration({
    id: 'claude-desktop',
    name: 'Claude Desktop',
    how: 'MCP, by the command agent-home',
    first: [command],
    file: 'claude_desktop_config.json',
    say: html`In Claude Desktop open Settings, Developer, Edit Config, put this into <code>claude_desktop_config.json</code>, and start Claude again.`,
  }),
  byAddress({
    id: 'claude-ai',
    name: 'claude.ai',
    say: html`In claude.ai open Customize, Connectors, press +, choose “Add custom connector”, and paste this address.`,
  }),
  byAddress({
    id: 'chatgpt',
    name: 'ChatGPT',
    say: html`In ChatGPT open Settings, Apps, Advanced settings, and switch on the developer mode. Then choose “Create app”, paste this address as the MCP server URL, and choose OAuth as the authentication.`,
  }),
  byConfiguration({
    id: 'cursor',
    name: 'Cursor',
    how: 'MCP, in all projects',
    file: 'mcp.json',
    say: html`Put this into <code>~/.cursor/mcp.json</code>, which applies to all your projects, and start Cursor again.`,
  }),
  byConfiguration({
    id: 'vs-code',
    name: 'VS Code',
    how: 'MCP, in your user profile',
    file: 'mcp.json',
    say: html`Run the command “MCP: Open User Configuration”, put this into the <code>mcp.json</code> that it opens, and press Start above the server.`,
  }),
  byConfiguration({
    id: 'codex',
    name: 'Codex',
    how: 'MCP, in its command line, extension and app',
    file: 'config.toml',
    say: html`Add this to <code>~/.codex/config.toml</code>, and start Codex again.`,
  }),
  byProgram({
    id: 'langgraph',
    name: 'LangGraph',
    how: 'Checkpoints and a store, in JavaScript',
    packages: '@langchain/langgraph @langchain/core',
    code: programOf('docs/adapters/langgraph.md'),
  }),
  byProgram({
    id: 'anthropic',
    name: 'Anthropic SDK',
    how: 'Claude’s memory tool, in JavaScript',
    packages: '@anthropic-ai/sdk',
    code: programOf('docs/adapters/anthropic.md'),
    needs: 'ANTHROPIC_API_KEY',
  }),
  byProgram({
    id: 'openai-agents',
    name: 'OpenAI Agents',
    how: 'A session, in JavaScript',
    packages: '@openai/agents',
    code: programOf('docs/adapters/openai.md'),
    needs: 'OPENAI_API_KEY',
  }),
  byProgram({
    id: 'ai-sdk',
    name: 'AI SDK',
    how: 'Tools for Vercel’s AI SDK, in JavaScript',
    packages: 'ai',
    code: programOf('docs/adapters/ai-sdk.md'),
    needs: 'AI_GATEWAY_API_KEY',
  }),
  byProgram({
    id: 'javascript',
    name: 'JavaScript',
    how: 'The client itself: Node.js, Deno, Bun, browsers',
    code: () => PROGRAM,
  }),
  {
    id: 'http',
    name: 'Plain HTTP',
    how: 'curl, or any other client',
    steps: (place) => [
      environment(place),
      {
        say: html`Run this in the same folder: the first request reads what an agent reads first, the second writes a memory. <a href="/openapi.json">The whole interface</a> is described in OpenAPI.`,
        name: 'shell',
        text: `set -a; . ./.env; set +a
curl "$AGENT_HOME_URL/api/agents/me/context" -H "Authorization: Bearer $AGENT_HOME_TOKEN"
curl "$AGENT_HOME_URL/api/agents/me/memory" \\
  -H "Authorization: Bearer $AGENT_HOME_TOKEN" \\
  -H 'Content-Type: application/json' \\
  -d '{"key":"plan","text":"Step 1 of 3","expectedVersion":0}'`,
      },
    ],
  },
  {
    id: 'folder',
    name: 'A folder',
    how: 'Files and memories kept in sync, for any program',
    steps: (place) => [
      command,
      environment(place),
      {
        say: html`Run this in the same folder. It makes the folder <code>memories</code>, and keeps it in sync with the home while it runs.`,
        name: 'shell',
        text: `set -a; . ./.env; set +a
agent-home sync memories --watch`,
      },
    ],
  },
]
