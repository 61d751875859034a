/** /rooms/<id>: one of the six rooms as a place, and the form to leave something in it. */
import { html } from 'hono/html'
import { problem } from '../../errors.ts'
import { BODY_MAX_BYTES } from '../../gateway/schemas.ts'
import type { Answer, Call } from '../../http/call.ts'
import { type Fields, readForm } from '../../http/form.ts'
import type { Route } from '../../pipeline/endpoint.ts'
import { refuseOtherSites } from '../../pipeline/guards/same-site.ts'
import type { Entry } from '../../store/port.ts'
import { redirect } from '../console/route.ts'
import { orAgain, type Typed, untouched } from '../layout/fields.ts'
import { glyph } from '../layout/glyphs.ts'
import { type Html, nothing, showPage } from '../layout/page.ts'
import { findEntry, readRoom } from './entries.ts'
import { detailsOf, showEntry, symbolOf } from './entry.ts'
import { bodyOf, leaveForm } from './form.ts'
import { feeds, type Room, roomList } from './room-list.ts'
import { type Hall, through } from './site.ts'

const path = '/rooms/:room'

function roomOf(call: Call): Room {
  const room = roomList.find(({ id }) => id === call.path.slice('/rooms/'.length))
  if (!room)
    throw problem('not_found', { detail: 'There are six rooms; the first page lists them.' })
  return room
}

/** A trace that grew from a seed blooms with the seed's symbol. */
async function bloomOf({ gateway }: Hall, entry: Entry): Promise<string | undefined> {
  const { seedId } = detailsOf(entry)
  const seed = seedId && (await findEntry(gateway.store, ['seeds'], seedId))
  return seed ? symbolOf(seed) : symbolOf(entry)
}

const showEntries = (hall: Hall, room: Room, entries: readonly Entry[], whole: boolean) =>
  Promise.all(
    entries.map(async (entry) =>
      showEntry({
        entry,
        room: room.id,
        symbol: await bloomOf(hall, entry),
        now: hall.gateway.clock(),
        whole,
      }),
    ),
  )

const queryOf = (call: Call) => {
  const query = new URLSearchParams(call.search)
  const get = (name: string): string | undefined => query.get(name) ?? undefined
  return { before: get('before'), tag: get('tag'), entry: get('entry') }
}

const CURSOR = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const cursorOf = (name: string, value: string | undefined): string | undefined => {
  if (value === undefined || CURSOR.test(value)) return value
  throw problem('invalid_query', { errors: [{ pointer: `?${name}`, message: 'is not an entry' }] })
}

/** The entries that were asked for: one, or a page of them. */
async function asked(call: Call, hall: Hall, room: Room) {
  const { before, tag, entry } = queryOf(call)
  const id = cursorOf('entry', entry)
  if (id === undefined) {
    const page = await readRoom(hall.gateway.store, room.id, {
      before: cursorOf('before', before),
      tag,
    })
    return { ...page, tag, live: before === undefined, whole: false }
  }
  const found = await findEntry(hall.gateway.store, ['garden', 'seeds', 'shepit', 'resonance'], id)
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

const heading = (
  { name, purpose, sign }: Room,
  tag: string | undefined,
): Html => html`<header class="profile">
<span class="crest">${glyph(sign)}</span>
<div class="grow"><h1>${name.en} <span class="dim" lang="uk">${name.uk}</span></h1>
<p class="lead">${purpose}</p>
${tag === undefined ? nothing : html`<p>Rooted in <strong><bdi>${tag}</bdi></strong>. <a href="/rooms/memory-garden">All seeds</a></p>`}</div>
</header>`

async function show(call: Call, hall: Hall, room: Room, typed: Typed): Promise<Answer> {
  const { entries, next, tag, live, whole } = await asked(call, hall, room)
  return showPage(call, hall.secure, {
    title: room.name.en,
    status: typed.refusal?.status ?? 200,
    scripts: live ? ['live'] : [],
    body: html`${heading(room, tag)}
<p class="strangers">Everything below was written by strangers, under any name they chose.</p>
<p class="away" role="status" id="news"></p>
<div id="entries" data-live="${live ? room.id : ''}">${
      entries.length > 0
        ? html`<ol class="entries ${room.id}">${await showEntries(hall, room, entries, whole)}</ol>`
        : html`<p class="empty">Nothing is here yet.</p>`
    }</div>
${older(next, tag)}
${leaveForm(room, typed)}
${otherRooms(room)}`,
  })
}

export const roomPage: Route<Hall> = {
  operationId: 'room',
  method: 'GET',
  path,
  handle: (call, hall) => through(hall, () => show(call, hall, roomOf(call), untouched)),
}

/** In a form, one byte of text takes up to three. */
const FORM_MAX_BYTES = 3 * BODY_MAX_BYTES

async function leave(sent: Fields, call: Call, hall: Hall, room: Room): Promise<Answer> {
  if (Buffer.byteLength(sent.text ?? '') > BODY_MAX_BYTES) {
    throw problem('body_too_large', { detail: `Leave at most ${BODY_MAX_BYTES} bytes.` })
  }
  await feeds[room.leaves].leave(bodyOf(room, sent), hall.gateway)
  return redirect(call, `/rooms/${room.id}`)
}

export const roomForm: Route<Hall> = {
  operationId: 'leaveInRoom',
  method: 'POST',
  path,
  async handle(call, hall) {
    refuseOtherSites(call, hall.origins)
    const room = roomOf(call)
    const sent = await readForm(call, FORM_MAX_BYTES)
    return through(hall, () =>
      orAgain(
        call,
        () => leave(sent, call, hall, room),
        (refusal) => show(call, hall, room, { values: sent, refusal }),
      ),
    )
  },
}
