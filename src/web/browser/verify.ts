/** Checks a whole home in the browser: loads its export and verifies that as the clients do. */
import { type ExportFault, type VerifiedExport, verifyExport } from 'agent-home-client'

const MOST_FAULTS = 10

const number = (count: number): string => count.toLocaleString('en')

const counted = (count: number, one: string, many = `${one}s`): string =>
  `${number(count)} ${count === 1 ? one : many}`

/** An event’s place is its id, a version’s is `key@version`. */
function faultText({ fault, place }: ExportFault): string {
  const at = place.lastIndexOf('@')
  const where = at < 0 ? `Event ${place}` : `${place.slice(0, at)}, version ${place.slice(at + 1)}`
  return `${where}: ${fault}.`
}

/** What nobody can tell from the events that are kept. */
function unprovenTexts({ previous, unproven, unprovenKeys }: VerifiedExport): string[] {
  const keys = unprovenKeys > 0 ? `${number(unprovenKeys)} of the memories, and ` : ''
  return [
    previous.id > 0 &&
      `Not proven: ${keys}that no ${keys && 'other '}memory is missing, because the events up to ${number(previous.id)} were pruned or are older than the chain.`,
    unproven > 0 &&
      `Not proven: the texts of ${counted(unproven, 'version')}, because no kept event made them, or an import brought them.`,
  ].filter((text) => text !== false)
}

interface Told {
  readonly isRight: boolean
  /** The first says what was checked. */
  readonly sentences: readonly string[]
  readonly faults: readonly string[]
}

export function told(verified: VerifiedExport): Told {
  const { events, proven, unproven, memories, faults } = verified
  const there = counted(memories, 'memory', 'memories')
  const more = faults.length - MOST_FAULTS
  const isRight = faults.length === 0
  return {
    isRight,
    sentences: [
      isRight
        ? `${counted(events, 'event')}, ${counted(proven + unproven, 'version')} and ${there} checked: each event follows the one before it, and the memories match the events.`
        : `${counted(events, 'event')} and ${there} checked: ${counted(faults.length, 'fault')}. The home was altered or damaged.`,
      ...unprovenTexts(verified),
    ],
    faults: [
      ...faults.slice(0, MOST_FAULTS).map(faultText),
      ...(more > 0 ? [`And ${number(more)} more.`] : []),
    ],
  }
}

/** Why there is nothing to check. */
class NotRead extends Error {}

/** A response that is no export has the reason in its title, and when to try again. */
async function refused(response: Response): Promise<NotRead> {
  const { title } = (await response.json().catch(() => ({}))) as { title?: string }
  const wait = response.headers.get('retry-after')
  const again = wait ? ` Try again in ${wait} seconds.` : ''
  return new NotRead(`The home could not be read${title ? `: ${title}` : ''}.${again}`)
}

type Progress = (words: string) => void

async function load(address: string, progress: Progress): Promise<string> {
  const headers = { accept: 'application/json' }
  const response = await fetch(address, { headers, redirect: 'manual' })
  if (!response.ok || !response.body) throw await refused(response)
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let file = ''
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    file += part.value
    progress(`${(file.length / 1e6).toFixed(1)} MB read`)
  }
  return file
}

/** The head that the page shows: the events must lead through it. */
function shownHead() {
  const shown = document.getElementById('head')?.textContent ?? ''
  const [, id, hash] = /^event (\d+), ([0-9a-f]{64})$/.exec(shown) ?? []
  return id && hash ? { id: Number(id), hash } : undefined
}

async function check(address: string, progress: Progress): Promise<Told> {
  const remembered = shownHead()
  const file = await load(address, progress)
  const count = (checked: number) => progress(`${number(checked)} events and versions checked`)
  return told(await verifyExport(file, { remembered, progress: count }))
}

function element(name: string, ...children: (Node | string)[]): HTMLElement {
  const made = document.createElement(name)
  made.append(...children)
  return made
}

function show(place: HTMLElement, { isRight, sentences, faults }: Told): void {
  const items = faults.map((fault) => element('li', fault))
  const [first = '', ...others] = sentences.map((sentence) => element('p', sentence))
  place.classList.toggle('fault', !isRight)
  place.replaceChildren(first, ...(items.length > 0 ? [element('ul', ...items)] : []), ...others)
}

/** Begins to tell how far it is, without a word of it to those who hear the page. */
function begin(place: HTMLElement): Progress {
  const far = element('span')
  far.ariaHidden = 'true'
  place.classList.remove('fault')
  place.replaceChildren(element('p', 'Checking everything… ', far))
  return (words) => {
    far.textContent = words
  }
}

let isChecking = false

export async function verify(address: string, place: HTMLElement): Promise<void> {
  if (isChecking) return
  isChecking = true
  const nothing = new NotRead('The home could not be read.')
  const found = await check(address, begin(place)).catch((error: unknown) => {
    const { message } = error instanceof NotRead ? error : nothing
    return { isRight: false, sentences: [message], faults: [] }
  })
  show(place, found)
  isChecking = false
}
