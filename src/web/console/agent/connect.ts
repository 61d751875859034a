/** How to connect a program to an agent's home, and whether one has connected. */
import { html } from 'hono/html'
import type { Call } from '../../../http/call.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { agentPath, memoryPath } from '../../layout/paths.ts'
import type { Workspace } from '../workspace.ts'

/** A placeholder, because the token is only shown once. */
export const NO_TOKEN = 'aha_…'

const addressOf = ({ publicUrl, secure }: Workspace, { host }: Call): string =>
  publicUrl ?? `${secure ? 'https' : 'http'}://${host}`

const ways = (url: string, token: string) => [
  {
    id: 'with-client',
    name: 'JavaScript or TypeScript',
    text: `npm install agent-home-client

import { AgentHome } from 'agent-home-client'

const home = new AgentHome({
  url: '${url}',
  token: '${token}',
})
await home.update('plan', (now) => now?.text ?? 'Step 1')`,
  },
  {
    id: 'with-mcp',
    name: 'MCP',
    text: JSON.stringify(
      {
        mcpServers: {
          memory: {
            type: 'http',
            url: `${url}/mcp`,
            headers: { Authorization: `Bearer ${token}` },
          },
        },
      },
      null,
      2,
    ),
  },
  {
    id: 'with-curl',
    name: 'curl',
    text: `curl ${url}/api/agents/me/memory \\
  -H 'Authorization: Bearer ${token}' \\
  -H 'Content-Type: application/json' \\
  -d '{"key":"plan","text":"Step 1","expectedVersion":0}'`,
  },
]

type Way = ReturnType<typeof ways>[number]

const snippet = (
  { id, name, text }: Way,
  i: number,
): Html => html`<details class="way" name="ways"${i === 0 ? html` open` : nothing}>
<summary>${name}</summary>
<div class="request"><pre class="text" tabindex="0" id="${id}" aria-label="${name}">${text}</pre>
<button type="button" class="quiet" data-copies="${id}" hidden>Copy<span class="away"> for ${name}</span></button></div>
</details>`

export const connect = (workspace: Workspace, call: Call, token: string): Html => {
  const url = addressOf(workspace, call)
  return html`<section class="connect" aria-labelledby="connect">
<h2 id="connect">Connect a program</h2>
${token === NO_TOKEN ? html`<p>Put the agent token, which was shown once, in the place of <code>${NO_TOKEN}</code>. A new one can be made under Keys.</p>` : nothing}
${ways(url, token).map(snippet)}
</section>`
}

/** The agent's page, with a note about its first write. */
export const firstWritePath = (agentId: string): string => `${agentPath(agentId)}?first`

/** Part of the agent's page, which is requested again until there is a memory. */
export const firstWrite = (agentId: string, key: string | undefined): Html => html`<div
id="first-write" data-live role="status">${
  key === undefined
    ? html`<p class="waiting"><span class="pulse" aria-hidden="true"></span> Waiting for its first write…</p>`
    : html`<div class="note good"><p><strong>The first memory is here:</strong> <a href="${memoryPath(agentId, key)}"><code>${key}</code></a>. <a href="${agentPath(agentId)}">See what the agent is doing</a></p></div>`
}</div>`
