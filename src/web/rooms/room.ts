/** /rooms/<id>: a room with its entries and its form. */
import { html } from 'hono/html'
import { z } from 'zod'
import { problem } from '../../errors.ts'
import { BODY_MAX_BYTES } from '../../gateway/schemas.ts'
import { detailsOf } from '../../gateway/view.ts'
import { type Answer, redirect } from '../../http/call.ts'
import { endpoint } from '../../pipeline/endpoint.ts'
import type { Facts, Guard } from '../../pipeline/guard.ts'
import { admission } from '../../pipeline/guards/admission.ts'
import { again, form, type Sent } from '../../pipeline/guards/form.ts'
import { sameSite } from '../../pipeline/guards/origin.ts'
import { WRITE_ERRORS } from '../../pipeline/problem.ts'
import type { Entry } from '../../store/port/gateway.ts'
import { UUID } from '../../uuid/order.ts'
import { type Typed, untouched } from '../layout/fields.ts'
import { glyph } from '../layout/glyphs.ts'
import { type Html, nothing, showPage } from '../layout/page.ts'
import { aboutRoom } from './about.ts'
import { findEntry, readRoom } from './entries.ts'
import { showEntry, symbolOf } from './entry.ts'
import { bodyOf, leaveForm } from './form.ts'
import { feeds, type Room, roomList } from './room-list.ts'
import type { SiteContext } from './site.ts'

const path = '/rooms/:room'

const ofRoom = z.object({ room: z.string() })

interface InRoom {
  readonly room: Room
}

/** The room in the path. */
const known: Guard<unknown, { readonly params: z.output<typeof ofRoom> }, InRoom> = {
  name: 'room',
  errors: ['not_found'],
  run({ params }) {
    const room = roomList.find(({ id }) => id === params.room)
    if (room) return { room }
    throw problem('not_found', { detail: 'There are six rooms; the first page lists them.' })
  },
}

/** A trace that grew from a seed has the seed's symbol as its bloom. */
async function bloomOf({ store }: SiteContext, entry: Entry): Promise<string | undefined> {
  const { seedId } = detailsOf(entry)
  const seed = seedId && (await findEntry(store, ['seeds'], seedId))
  return seed ? symbolOf(seed) : symbolOf(entry)
}

const showEntries = (site: SiteContext, room: Room, entries: readonly Entry[], whole: boolean) =>
  Promise.all(
    entries.map(async (entry) =>
      showEntry({
        entry,
        room: room.id,
        symbol: await bloomOf(site, entry),
        now: site.clock(),
        whole,
      }),
    ),
  )

const cursor = z.string().regex(UUID, 'is not an entry').optional()

const roomQuery = z.object({ before: cursor, entry: cursor, tag: z.string().optional() })

type RoomQuery = z.output<typeof roomQuery>

/** The requested entry, or a page of entries. */
async function asked({ store }: SiteContext, room: Room, { before, tag, entry }: RoomQuery) {
  if (entry === undefined) {
    const page = await readRoom(store, room.id, { before, tag })
    return { ...page, tag, live: before === undefined, whole: false }
  }
  const found = await findEntry(store, ['garden', 'seeds', 'shepit', 'resonance'], entry)
  if (!found) throw problem('not_found', { detail: 'This entry has become compost.' })
  return { entries: [found], next: undefined, tag, live: false, whole: true }
}

const otherRooms = (room: Room): Html =>
  html`<nav class="doors" aria-label="Other rooms"><ul>${roomList
    .filter(({ id }) => id !== room.id)
    .map(
      ({ id, name, sign }) => html`<li><a href="/rooms/${id}">${glyph(sign)} ${name.en}</a></li>`,
    )}</ul></nav>`

const older = (next: string | undefined, tag: string | undefined): Html =>
  next
    ? html`<p><a class="button quiet" rel="next" href="?${new URLSearchParams({
        ...(tag !== undefined && { tag }),
        before: next,
      }).toString()}">Older</a></p>`
    : nothing

const isPart = ({ tag, entry }: RoomQuery): boolean => tag !== undefined || entry !== undefined

/** A link from a part of a room to all of it. */
const partOf = ({ id, name }: Room, { tag, entry }: RoomQuery): Html => {
  if (tag !== undefined)
    return html`<p>Rooted in <strong><bdi>${tag}</bdi></strong>. <a href="/rooms/memory-garden">All seeds</a></p>`
  return entry === undefined ? nothing : html`<p><a href="/rooms/${id}">All of ${name.en}</a></p>`
}

const heading = (room: Room, query: RoomQuery): Html => html`<header class="profile">
<span class="crest">${glyph(room.sign)}</span>
<div class="grow"><h1>${room.name.en} <span class="dim" lang="uk">${room.name.uk}</span></h1>
<p class="lead">${room.purpose}</p>
${partOf(room, query)}</div>
</header>`

type Asked = Awaited<ReturnType<typeof asked>>

async function standing(
  site: SiteContext,
  room: Room,
  { entries, next, tag, live, whole }: Asked,
): Promise<Html> {
  return html`<p class="strangers">What follows was written by strangers, under any name they chose.</p>
<p class="away" role="status" id="news"></p>
<div id="entries" data-live="${live ? room.id : ''}">${
    entries.length > 0
      ? html`<ol class="entries ${whole ? 'whole' : room.id}">${await showEntries(site, room, entries, whole)}</ol>`
      : html`<p class="empty">Nothing is here yet.</p>`
  }</div>
${older(next, tag)}`
}

/** A requested entry comes before the form, and the form before the list. */
async function show(
  { call, room }: Facts & InRoom,
  site: SiteContext,
  query: RoomQuery,
  typed: Typed,
): Promise<Answer> {
  const found = await asked(site, room, query)
  const form = leaveForm(room, typed)
  const about = isPart(query) || !found.live ? nothing : aboutRoom(room.id)
  const left = html`<div class="left">${about}${await standing(site, room, found)}</div>`
  return showPage(call, site.secure, {
    title: room.name.en,
    place: 'rooms',
    status: typed.refusal?.status ?? 200,
    scripts: found.live ? ['live'] : [],
    body: html`${heading(room, query)}
<div class="inside">${found.whole ? html`${left}${form}` : html`${form}${left}`}</div>
${otherRooms(room)}`,
  })
}

export const roomPage = endpoint({
  operationId: 'room',
  method: 'GET',
  path,
  params: ofRoom,
  guards: [known, admission],
  query: roomQuery,
  errors: ['storage_unavailable', 'not_found'],
  handle: (request, site: SiteContext) => show(request, site, request.query, untouched),
})

/** In a form, a byte of text takes up to three. */
const FORM_MAX_BYTES = 3 * BODY_MAX_BYTES

async function leave(
  { call, sent, room }: Facts & InRoom & Sent,
  site: SiteContext,
): Promise<Answer> {
  if (Buffer.byteLength(sent.text ?? '') > BODY_MAX_BYTES) {
    throw problem('body_too_large', { detail: `Leave at most ${BODY_MAX_BYTES} bytes.` })
  }
  await feeds[room.leaves].leave(bodyOf(room, sent), site)
  return redirect(call, `/rooms/${room.id}`)
}

export const roomForm = endpoint({
  operationId: 'leaveInRoom',
  method: 'POST',
  path,
  params: ofRoom,
  guards: [
    sameSite,
    known,
    form(FORM_MAX_BYTES),
    admission,
    again((request: Facts & InRoom & Sent, site: SiteContext, refusal) =>
      show(request, site, {}, { values: request.sent, refusal }),
    ),
  ],
  errors: [...WRITE_ERRORS, 'invalid_body'],
  handle: (request, site: SiteContext) => leave(request, site),
})
