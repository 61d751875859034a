/** The clients that the console connects, with the very text that each takes. */
import { html } from 'hono/html'
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

export interface Client {
  /** In addresses. */
  readonly id: string
  readonly name: string
  /** How it is connected, in a few words. */
  readonly how: string
  /** It signs in by the address alone, and no key is made for it. */
  readonly signsIn?: boolean
  readonly steps: (place: Place) => readonly Step[]
}

/** The name of the home in the settings of a client. */
const SERVER = 'agent-home'

const bearer = (token: string): string => `Bearer ${token}`

const json = (value: unknown): string => JSON.stringify(value, null, 2)

const overHttp = ({ url, token }: Place) => ({
  url: `${url}/mcp`,
  headers: { Authorization: bearer(token) },
})

const tarball = (name: string, build: string): Html =>
  html`It is not in a registry: in a checkout, <code>${build}</code> makes <code>${name}-${VERSION}.tgz</code>.`

const command: Step = {
  say: html`Install the command <code>agent-home</code>, for Node.js 24.15 or newer. ${tarball('agent-home', 'npm run build && npm pack')}`,
  name: 'installation',
  text: `npm install -g ./agent-home-${VERSION}.tgz`,
}

const library = (beside = ''): Step => ({
  say: html`Install the client${beside ? html` beside <code>${beside}</code>` : nothing}. ${tarball('agent-home-client', 'npm run build -w agent-home-client && npm pack ./clients/typescript/dist')}`,
  name: 'installation',
  text: `npm install ./agent-home-client-${VERSION}.tgz${beside && ` ${beside}`}`,
})

/** A file, because what is typed in a shell stays in its history. */
const environment = ({ url, token }: Place): Step => ({
  say: html`Save this as <code>.env</code>, readable by you alone and out of version control.`,
  name: '.env',
  text: `AGENT_HOME_URL=${url}
AGENT_HOME_TOKEN=${token}`,
})

const program = (text: string, needs = ''): Step => ({
  say: html`Save this as <code>program.mts</code> and run <code>node --env-file=.env program.mts</code> (Node.js 22.18 or newer)${needs ? html`, with <code>${needs}</code> in the environment` : nothing}.`,
  name: 'program.mts',
  text,
})

const JAVASCRIPT = `import { AgentHome } from 'agent-home-client'

const { AGENT_HOME_URL: url = '', AGENT_HOME_TOKEN: token = '' } = process.env
const home = new AgentHome({ url, token })
await home.update('plan', (current) => \`\${current?.text ?? ''}Step 1\\n\`)`

const LANGGRAPH = `import { Annotation, END, START, StateGraph } from '@langchain/langgraph'
import { AgentHome } from 'agent-home-client'
import { AgentHomeSaver, AgentHomeStore } from 'agent-home-client/langgraph'

const { AGENT_HOME_URL: url = '', AGENT_HOME_TOKEN: token = '' } = process.env
const home = new AgentHome({ url, token })
const checkpointer = new AgentHomeSaver({ home })
const store = new AgentHomeStore({ home })

const State = Annotation.Root({
  messages: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
})

const graph = new StateGraph(State)
  .addNode('greet', async ({ messages }, config) => {
    await config.store?.put(['users', 'ann'], 'last', { said: messages.at(-1) })
    return { messages: [\`That was \${messages.length}.\`] }
  })
  .addEdge(START, 'greet')
  .addEdge('greet', END)
  .compile({ checkpointer, store })

const thread = { configurable: { thread_id: 'ann-1' } }
await graph.invoke({ messages: ['Hello'] }, thread)
const { messages } = await graph.invoke({ messages: ['Again'] }, thread)
console.log(messages.join(' ')) // Hello That was 1. Again That was 3.`

const ANTHROPIC = `import { Anthropic } from '@anthropic-ai/sdk'
import { betaMemoryTool } from '@anthropic-ai/sdk/helpers/beta/memory'
import { AgentHome } from 'agent-home-client'
import { memoryHandlers } from 'agent-home-client/anthropic'

const { AGENT_HOME_URL: url = '', AGENT_HOME_TOKEN: token = '' } = process.env
const agent = new AgentHome({ url, token })

const answer = await new Anthropic().beta.messages.toolRunner({
  model: 'claude-sonnet-5-5',
  max_tokens: 2_000,
  betas: ['context-management-2025-06-27'],
  tools: [betaMemoryTool(memoryHandlers(agent))],
  messages: [{ role: 'user', content: 'I am Ada, and I like short answers. Remember that.' }],
})
console.log(answer.content.map((block) => (block.type === 'text' ? block.text : '')).join(''))`

const OPENAI = `import { Agent, run } from '@openai/agents'
import { AgentHome } from 'agent-home-client'
import { AgentHomeSession } from 'agent-home-client/openai'

const { AGENT_HOME_URL: url = '', AGENT_HOME_TOKEN: token = '' } = process.env
const home = new AgentHome({ url, token })
const session = new AgentHomeSession({ home, sessionId: 'support-4711' })

const agent = new Agent({ name: 'Assistant', instructions: 'Answer in one line.' })
await run(agent, 'My name is Ann.', { session })`

const AI_SDK = `import { generateText, isStepCount } from 'ai'
import { AgentHome } from 'agent-home-client'
import { memoryTools } from 'agent-home-client/ai-sdk'

const { AGENT_HOME_URL: url = '', AGENT_HOME_TOKEN: token = '' } = process.env
const agent = new AgentHome({ url, token })

const { text } = await generateText({
  model: 'anthropic/claude-sonnet-5.5',
  system: 'Call get_context first, about your task. Keep what you should know next time in your memories.',
  tools: memoryTools(agent),
  stopWhen: isStepCount(20),
  prompt: 'I am Ada, and I like short answers.',
})
console.log(text)`

const shell = `set -a; . ./.env; set +a
curl "$AGENT_HOME_URL/api/agents/me/context" -H "Authorization: Bearer $AGENT_HOME_TOKEN"
curl "$AGENT_HOME_URL/api/agents/me/memory" \\
  -H "Authorization: Bearer $AGENT_HOME_TOKEN" \\
  -H 'Content-Type: application/json' \\
  -d '{"key":"plan","text":"Step 1 of 3","expectedVersion":0}'`

const address = ({ url }: Place, say: Html): readonly Step[] => [
  { say, name: 'address', text: `${url}/mcp` },
  {
    say: html`It sends you here to sign in and to choose what it may do. What you grant is a named key, which is listed and revoked under Keys.`,
  },
]

export const clients: readonly Client[] = [
  {
    id: 'claude-code',
    name: 'Claude Code',
    how: 'MCP, in one project',
    steps: (place) => [
      {
        say: html`Save this as <code>.mcp.json</code> in the folder of your project, out of version control, and start <code>claude</code> there.`,
        name: '.mcp.json',
        text: json({ mcpServers: { [SERVER]: { type: 'http', ...overHttp(place) } } }),
      },
    ],
  },
  {
    id: 'claude-desktop',
    name: 'Claude Desktop',
    how: 'MCP, by the command agent-home',
    steps: ({ url, token }) => [
      command,
      {
        say: html`In Claude Desktop open Settings, Developer, Edit Config, put this into <code>claude_desktop_config.json</code>, and start Claude again.`,
        name: 'claude_desktop_config.json',
        text: json({
          mcpServers: {
            [SERVER]: {
              command: 'agent-home',
              args: ['mcp'],
              env: { AGENT_HOME_URL: url, AGENT_HOME_TOKEN: token },
            },
          },
        }),
      },
    ],
  },
  {
    id: 'claude-ai',
    name: 'claude.ai',
    how: 'By its address; on the web and on phones',
    signsIn: true,
    steps: (place) =>
      address(
        place,
        html`In claude.ai open Customize, Connectors, press +, choose “Add custom connector”, and paste this address.`,
      ),
  },
  {
    id: 'chatgpt',
    name: 'ChatGPT',
    how: 'By its address; on the web and on phones',
    signsIn: true,
    steps: (place) =>
      address(
        place,
        html`In ChatGPT open Settings, Apps, Advanced settings, and switch on the developer mode. Then choose “Create app”, paste this address as the MCP server URL, and choose OAuth as the authentication.`,
      ),
  },
  {
    id: 'cursor',
    name: 'Cursor',
    how: 'MCP, in all projects',
    steps: (place) => [
      {
        say: html`Put this into <code>~/.cursor/mcp.json</code>, which counts for all your projects, and start Cursor again.`,
        name: 'mcp.json',
        text: json({ mcpServers: { [SERVER]: overHttp(place) } }),
      },
    ],
  },
  {
    id: 'vs-code',
    name: 'VS Code',
    how: 'MCP, in your user profile',
    steps: (place) => [
      {
        say: html`Run the command “MCP: Open User Configuration”, put this into the <code>mcp.json</code> that it opens, and press Start above the server.`,
        name: 'mcp.json',
        text: json({ servers: { [SERVER]: { type: 'http', ...overHttp(place) } } }),
      },
    ],
  },
  {
    id: 'codex',
    name: 'Codex',
    how: 'MCP, in its command line, extension and app',
    steps: ({ url, token }) => [
      {
        say: html`Add this to <code>~/.codex/config.toml</code>, and start Codex again.`,
        name: 'config.toml',
        text: `[mcp_servers.${SERVER}]
url = ${JSON.stringify(`${url}/mcp`)}
http_headers = { "Authorization" = ${JSON.stringify(bearer(token))} }`,
      },
    ],
  },
  {
    id: 'langgraph',
    name: 'LangGraph',
    how: 'Checkpoints and a store, in JavaScript',
    steps: (place) => [
      library('@langchain/langgraph @langchain/core'),
      environment(place),
      program(LANGGRAPH),
    ],
  },
  {
    id: 'anthropic',
    name: 'Anthropic SDK',
    how: 'Claude’s memory tool, in JavaScript',
    steps: (place) => [
      library('@anthropic-ai/sdk'),
      environment(place),
      program(ANTHROPIC, 'ANTHROPIC_API_KEY'),
    ],
  },
  {
    id: 'openai-agents',
    name: 'OpenAI Agents',
    how: 'A session, in JavaScript',
    steps: (place) => [
      library('@openai/agents'),
      environment(place),
      program(OPENAI, 'OPENAI_API_KEY'),
    ],
  },
  {
    id: 'ai-sdk',
    name: 'AI SDK',
    how: 'Tools for Vercel’s AI SDK, in JavaScript',
    steps: (place) => [library('ai'), environment(place), program(AI_SDK, 'AI_GATEWAY_API_KEY')],
  },
  {
    id: 'javascript',
    name: 'JavaScript',
    how: 'The client itself: Node.js, Deno, Bun, browsers',
    steps: (place) => [library(), environment(place), program(JAVASCRIPT)],
  },
  {
    id: 'http',
    name: 'Plain HTTP',
    how: 'curl, or anything that speaks it',
    steps: (place) => [
      environment(place),
      {
        say: html`Run this beside it: the first request reads what an agent reads first, the second writes a memory. <a href="/openapi.json">The whole interface</a> is described in OpenAPI.`,
        name: 'shell',
        text: shell,
      },
    ],
  },
  {
    id: 'folder',
    name: 'A folder',
    how: 'Files and memories kept the same, for any program',
    steps: (place) => [
      command,
      environment(place),
      {
        say: html`Run this beside it. It makes the folder <code>memories</code>, and keeps it and the home the same for as long as it runs.`,
        name: 'shell',
        text: `set -a; . ./.env; set +a
agent-home sync memories --watch`,
      },
    ],
  },
]
