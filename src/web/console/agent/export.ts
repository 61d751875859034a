/** An agent's export: as a download, and as one page to read or print. */
import { html } from 'hono/html'
import { attachExport, EXPORT_ERRORS, type Snapshot, takeExport } from '../../../home/export.ts'
import { answer } from '../../../http/call.ts'
import type { Memory } from '../../../store/port/keeping/memories.ts'
import { glyph } from '../../layout/glyphs.ts'
import { aroundBody, type Html, keepToItself, nothing } from '../../layout/page.ts'
import { agentPath } from '../../layout/paths.ts'
import { moment, plural, when } from '../../layout/words.ts'
import { framed } from '../agent-page.ts'
import { agentPage } from '../endpoints.ts'
import { metadataOf } from '../memory/rendered.ts'

export const exportDownload = agentPage({
  operationId: 'consoleExport',
  path: `${agentPath(':agent')}/export`,
  budget: 'exports',
  errors: EXPORT_ERRORS,
  handle: ({ call, identity }, workspace) => attachExport(call, workspace, identity),
})

const heading = ({ profile, memoryCount }: Snapshot, now: number): Html => html`<header
class="profile"><span class="crest">${glyph(profile.symbol)}</span>
<div class="grow"><h1 dir="auto">${profile.name}</h1>
<p class="lead" dir="auto">${profile.purpose}</p>
<p class="dim">${plural(memoryCount, 'memory', 'memories')} as of ${moment(now)} · <code>${profile.agentId}</code></p></div></header>`

const entry = (memory: Memory, now: number): Html => html`<article class="entry">
<h2 class="key">${memory.key}</h2>
<p class="dim">Version ${memory.version} · written ${when(memory.updatedAt, now)} · created ${when(memory.createdAt, now)}</p>
<pre class="text" dir="auto">${memory.text}</pre>
${metadataOf(memory)}
</article>`

type Around = Awaited<ReturnType<typeof aroundBody>>

/** Streamed, since all the memories of an agent may be many megabytes. */
async function* sheet(
  snapshot: Snapshot,
  now: number,
  [before, after]: Around,
): AsyncGenerator<string> {
  yield before + String(await heading(snapshot, now))
  for await (const batch of snapshot.memories) {
    yield (await Promise.all(batch.map((memory) => entry(memory, now)))).join('')
  }
  yield after
}

const page = { tab: 'settings', title: 'Everything', body: nothing } as const

export const printPage = agentPage({
  operationId: 'consolePrint',
  path: `${agentPath(':agent')}/print`,
  budget: 'exports',
  errors: EXPORT_ERRORS,
  async handle(visit, workspace) {
    const { call, identity } = visit
    const { secure, clock } = workspace
    const around = await aroundBody(await framed(visit, workspace, page))
    const pages = await takeExport(call, workspace, identity, (taken) =>
      sheet(taken, clock(), around),
    )
    keepToItself(call, secure)
    return answer(call, 200, pages, 'text/html; charset=utf-8')
  },
})
