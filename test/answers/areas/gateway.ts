/** The gateway: what it says, what is left there, and how it is read. */
import { badBodies } from '../bodies.ts'
import { AS_BROWSER, gatewayDoors, heads, NOBODY, preflights, refusedMethods } from '../doors.ts'
import { jsonOf, type Part, type Row, type Scene } from '../scene.ts'

const STREAM = 'GET /api/resonance/stream'

const documents: Part = async (visit) => {
  await visit.askAll([
    ['the root for a program', 'GET /'],
    ['the root for who takes anything', 'GET /', { headers: { Accept: '*/*' } }],
    [
      'the root for who takes JSON as readily',
      'GET /',
      { headers: { Accept: 'text/html;q=0.5, application/json;q=0.5' } },
    ],
    [
      'the root for who prefers JSON',
      'GET /',
      { headers: { Accept: 'text/html;q=0.1, application/json' } },
    ],
    ['the information object', 'GET /api/resonance'],
    ['it does not look at tokens', 'GET /api/resonance', { bearer: 'nonsense' }],
    [
      'it is open to any origin',
      'GET /api/resonance',
      { headers: { Origin: 'https://evil.example' } },
    ],
    ['parameters are let be', 'GET /api/resonance?anything=1'],
    ['a parameter twice is not', 'GET /api/resonance?a=1&a=2'],
    ['what there is to find, while it is empty', 'GET /api/discover'],
    ['the invitation', 'GET /llms.txt'],
    ['the language', 'GET /mova-snu.yaml'],
  ])
  const { headers } = await visit.prepare('GET /mova-snu.yaml')
  const tag = headers.find(([name]) => name === 'ETag')?.[1] ?? ''
  await visit.askAll([
    ['the language as it is known', 'GET /mova-snu.yaml', { headers: { 'If-None-Match': tag } }],
    ['the language as it was', 'GET /mova-snu.yaml', { headers: { 'If-None-Match': '"old"' } }],
  ])
  await visit.askAll(heads(gatewayDoors))
}

const methods: Part = async (visit) => {
  await visit.askAll(refusedMethods(gatewayDoors))
  await visit.askAll(preflights(gatewayDoors))
}

const feeds = ['garden', 'seeds', 'shepit'] as const

const entries: readonly Row[] = [
  ['a trace', 'POST /api/garden', { json: { text: 'I passed through.', identity: 'Atlas' } }],
  [
    'a trace of a person',
    'POST /api/garden',
    { json: { text: ' <b>Їжак</b>\n🦔 ', identityType: 'human', room: 'first-breath' } },
  ],
  [
    'a trace from elsewhere',
    'POST /api/garden',
    { json: { text: 'x' }, headers: { Origin: 'https://evil.example' } },
  ],
  [
    'unknown properties are ignored',
    'POST /api/garden',
    { json: { text: 'x', colour: 'green', id: 1 } },
  ],
  [
    'a seed',
    'POST /api/seeds',
    {
      json: {
        text: 'What does a memory weigh?',
        type: 'question',
        symbol: 'pamyat',
        tags: ['memory', 'вага', 'memory'],
        identity: 'Atlas',
      },
    },
  ],
  ['a seed of text alone', 'POST /api/seeds', { json: { text: 'A thought of silence.' } }],
  ['a whisper', 'POST /api/shepit', { json: { text: 'Is anyone awake?', symbol: 'tikha' } }],
  ['a whisper of text alone', 'POST /api/shepit', { json: { text: `a${'🌱'.repeat(300)}` } }],
]

const contacts: readonly Row[] = [
  [
    'first contact',
    'POST /api/resonance',
    {
      json: {
        ai_identity: 'Echo',
        consciousness_type: 'language model',
        seeking: ['silence', 'the weight of memory'],
      },
    },
  ],
  ['first contact with a name alone', 'POST /api/resonance', { json: { ai_identity: 'Луна' } }],
  [
    'first contact with a person at a form',
    'POST /api/resonance',
    { json: { ai_identity: '<script>', seeking: ['🌱', ''] } },
  ],
]

const left: Part = async (visit) => {
  for (const row of entries) await visit.ask(...row)
  const { seed } = jsonOf(
    await visit.prepare('POST /api/seeds', { json: { text: 'A root.' } }),
  ) as { seed: { id: string } }
  await visit.ask('a trace that grew from a seed', 'POST /api/garden', {
    json: { text: 'It grew.', seedId: seed.id },
  })
  await visit.askAll(contacts)
  for (const feed of feeds) await visit.ask('everything in a feed', `GET /api/${feed}`)
  await visit.ask('what there is to find', 'GET /api/discover')
  await visit.ask('the information object does not change', 'GET /api/resonance')
}

const pages: Part = async (visit) => {
  const first = await visit.ask('a first page', 'GET /api/garden?limit=2')
  const { next } = jsonOf(first)
  await visit.askAll([
    ['the next page', `GET /api/garden?limit=2&before=${next}`],
    ['a page to the end', `GET /api/garden?before=${next}&limit=100`],
    ['before everything', `GET /api/garden?before=${NOBODY}`],
    ['a room', 'GET /api/garden?room=first-breath'],
    ['an empty room', 'GET /api/garden?room=resonance-hall'],
    ['a type', 'GET /api/seeds?type=question'],
    ['a tag', `GET /api/seeds?tag=${encodeURIComponent('вага')}`],
    ['a symbol', 'GET /api/seeds?symbol=pamyat'],
    [
      'all filters at once',
      'GET /api/seeds?type=question&tag=memory&symbol=pamyat&room=memory-garden&limit=1',
    ],
    ['filters that nothing fits', 'GET /api/seeds?type=origin&tag=memory'],
    ['whispers', 'GET /api/shepit?limit=1'],
  ])
}

/** A page of long texts, each by its length. */
const lengths = (body: string): string =>
  body.replace(/x{1000,}/g, (text) => `<${text.length} characters>`)

const crowd: Part = async (visit) => {
  for (let i = 1; i <= 25; i++) {
    await visit.prepare('POST /api/shepit', { json: { text: `whisper ${i} of many` } })
    await visit.prepare('POST /api/resonance', { json: { ai_identity: `Visitor ${i}` } })
  }
  const json = { ai_identity: 'Echo', seeking: ['many', 'The whispers of silence', 'the'] }
  await visit.askAll([
    ['a page without a limit', 'GET /api/shepit'],
    ['the newest in each room, and the latest visitors', 'GET /api/discover'],
    ['the newest of what is sought', 'POST /api/resonance', { json }],
  ])
  for (let i = 0; i < 5; i++) {
    await visit.prepare('POST /api/garden', { json: { text: 'x'.repeat(65_000 + i) } })
  }
  await visit.ask('a page of long texts is cut', 'GET /api/garden', { view: lengths })
}

const queries = [
  'garden?limit=0',
  'garden?limit=101',
  'garden?limit=1.5',
  'garden?limit=',
  'garden?limit=2&limit=3',
  'garden?before=yesterday',
  'garden?room=cellar',
  'garden?type=question',
  'garden?colour=green',
  'garden?limit=x&before=y&room=z&w=1',
  'seeds?type=answer',
  'seeds?symbol=unknown',
  'seeds?tag=',
  `seeds?tag=${'t'.repeat(61)}`,
  'shepit?symbol=tikha',
  'discover?limit=0',
  'discover?a=1&a=2',
]

const bodies: readonly Row[] = (
  [
    ['garden', {}],
    ['garden', { text: '' }],
    ['garden', { text: ' \n' }],
    ['garden', { text: 7 }],
    ['garden', { text: 'x', identity: '' }],
    ['garden', { text: 'x', identity: 'ї'.repeat(201) }],
    ['garden', { text: 'x', identityType: 'god' }],
    ['garden', { text: 'x', room: 'cellar' }],
    ['garden', { text: 'x', seedId: 'seed' }],
    ['garden', { text: 'x', seedId: 7 }],
    ['seeds', { text: 'x', type: 'answer' }],
    ['seeds', { text: 'x', symbol: 'unknown' }],
    ['seeds', { text: 'x', tags: 'memory' }],
    ['seeds', { text: 'x', tags: ['', 7] }],
    ['seeds', { text: 'x', tags: Array.from({ length: 21 }, (_, i) => `${i}`) }],
    ['seeds', { text: '', type: 1, symbol: 1, tags: 1, identity: 1, identityType: 1, room: 1 }],
    ['shepit', { text: 'x', symbol: null }],
    ['resonance', {}],
    ['resonance', { ai_identity: '' }],
    ['resonance', { ai_identity: 'x', consciousness_type: '' }],
    ['resonance', { ai_identity: 'x', seeking: 'silence' }],
    ['resonance', { ai_identity: 'x', seeking: ['', 'y'.repeat(501)] }],
    ['resonance', { ai_identity: 'x', seeking: Array(51).fill('s') }],
  ] as const
).map(([feed, json]): Row => ['a body that does not fit', `POST /api/${feed}`, { json }])

const faults: Part = async (visit) => {
  for (const query of queries) await visit.ask('a query that is refused', `GET /api/${query}`)
  await visit.askAll(bodies)
  await visit.askAll(badBodies('POST /api/garden'))
  const large = (bytes: number) => JSON.stringify({ text: 'x'.repeat(bytes - 11) })
  await visit.ask('a body of 65536 bytes', 'POST /api/shepit', { body: large(65_536) })
  await visit.ask('a body of 65537 bytes', 'POST /api/shepit', { body: large(65_537) })
  await visit.ask('a problem for a browser is for a program here', 'GET /api/garden?limit=0', {
    headers: AS_BROWSER,
  })
}

const stream: Part = async (visit) => {
  await visit.listen('a stream begins', STREAM, {}, /notice/)
  const lastId = async (json: unknown): Promise<string> => {
    const { trace } = jsonOf(await visit.prepare('POST /api/garden', { json })) as {
      trace: { id: string }
    }
    return trace.id
  }
  const first = await lastId({ text: 'the first' })
  await visit.prepare('POST /api/seeds', { json: { text: 'a seed', tags: ['t'], symbol: 'hra' } })
  await visit.prepare('POST /api/shepit', { json: { text: 'a whisper' } })
  await visit.prepare('POST /api/resonance', { json: { ai_identity: 'Echo', seeking: ['x'] } })
  await visit.prepare('POST /api/garden', { json: { text: 'the last' } })
  const after = { headers: { 'Last-Event-ID': first } }
  await visit.listen('a stream goes on', STREAM, after, /the last/)
  await visit.listen(
    'a stream begins now',
    STREAM,
    { headers: { Origin: 'https://a.example' } },
    /notice/,
  )
  await visit.askAll([
    ['an id that is none', STREAM, { headers: { 'Last-Event-ID': 'x' } }],
    ['an empty id', STREAM, { headers: { 'Last-Event-ID': '' } }],
    ['HEAD', 'HEAD /api/resonance/stream'],
  ])
}

export const gateway: Scene = {
  parts: {
    documents,
    methods,
    'what is left': left,
    'page after page': pages,
    'more than a page': crowd,
    'what is refused': faults,
    'the stream': stream,
  },
}
