/** An agent's export: as a download, and as one page to read or print. */
import { html } from 'hono/html'
import { refusal } from '../../../home/endpoint.ts'
import { attachExport } from '../../../home/export.ts'
import { answer } from '../../../http/call.ts'
import { spend } from '../../../pipeline/budgets.ts'
import type { ExportAnswer, Memory } from '../../../store/port.ts'
import { stylesheet } from '../../layout/assets.ts'
import { glyph } from '../../layout/glyphs.ts'
import { type Html, keepToItself } from '../../layout/page.ts'
import { plural } from '../../layout/words.ts'
import { type AgentVisit, agentPage } from '../route.ts'
import { facts, metadataOf } from './memory.ts'

async function admit({ call, console, agent }: AgentVisit): Promise<void> {
  spend(call, await console.home.budgets.take('exports', agent.agentId))
}

export const exportDownload = agentPage('consoleExport', '/export', async (visit) => {
  await admit(visit)
  return attachExport(visit.call, visit.console.home, visit.agent)
})

type Snapshot = ExportAnswer & { outcome: 'export' }

const head = ({ profile, memoryCount }: Snapshot, now: number): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${profile.name} · everything it remembers</title>
<link rel="stylesheet" href="${stylesheet()}">
</head>
<body class="sheet">
<main>
<p class="trail"><a href="/console/agents/${profile.agentId}">Back to ${profile.name}</a></p>
<header class="profile"><span class="crest">${glyph(profile.symbol)}</span>
<div class="grow"><h1 dir="auto">${profile.name}</h1>
<p class="lead" dir="auto">${profile.purpose}</p>
<p class="dim">${plural(memoryCount, 'memory', 'memories')} as of ${new Date(now).toISOString()} · <code>${profile.agentId}</code></p></div></header>`

const entry = (memory: Memory, now: number): Html => html`<article class="entry">
<h2 class="key">${memory.key}</h2>
${facts(memory, now)}
<pre class="text" dir="auto">${memory.text}</pre>
${metadataOf(memory)}
</article>`

/** Streamed, since all the memories of an agent may be many megabytes. */
async function* sheet(snapshot: Snapshot, now: number): AsyncGenerator<string> {
  yield String(await head(snapshot, now))
  for await (const batch of snapshot.memories) {
    yield (await Promise.all(batch.map((memory) => entry(memory, now)))).join('')
  }
  yield '</main></body></html>'
}

export const printPage = agentPage('consolePrint', '/print', async (visit) => {
  await admit(visit)
  const { call, console, agent } = visit
  const snapshot = await console.home.store.exportMemories(agent)
  if (snapshot.outcome !== 'export') throw refusal(snapshot)
  keepToItself(call, console.secure)
  const pages = { pieces: sheet(snapshot, console.home.clock()), close: snapshot.close }
  return answer(call, 200, pages, 'text/html; charset=utf-8')
})
