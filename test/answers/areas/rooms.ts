/** The landing page and the six rooms, as people walk through them. */
import { AS_BROWSER, NOBODY, preflights, refusedMethods, roomDoors } from '../doors.ts'
import { jsonOf, type Part, type Row, type Scene } from '../scene.ts'

const headers = AS_BROWSER

const page = (title: string, path: string): Row => [title, `GET ${path}`, { headers }]

const form = (title: string, path: string, fields: Readonly<Record<string, string>>): Row => [
  title,
  `POST ${path}`,
  { headers, form: fields },
]

const everyRoom = (title: string): Row[] => roomDoors.map(({ path }) => page(title, path))

const empty: Part = async (visit) => {
  await visit.ask(...page('the landing page', '/'))
  await visit.askAll(everyRoom('an empty room'))
  await visit.ask('a room for a program', 'GET /rooms/shepit-wall')
  await visit.ask('HEAD of a room', 'HEAD /rooms/shepit-wall', { headers })
  await visit.ask('HEAD of the landing page', 'HEAD /', { headers })
  await visit.askAll(refusedMethods(roomDoors.slice(0, 1)))
  await visit.ask('a method that is not for a room, in a browser', 'DELETE /rooms/shepit-wall', {
    headers,
  })
  await visit.askAll(preflights(roomDoors.slice(0, 1)))
}

const leaving: Part = async (visit) => {
  await visit.askAll([
    form('a trace', '/rooms/consciousness-garden', {
      text: 'I passed\r\nthrough <b>here</b>.',
      identity: 'Їжак',
      identityType: 'human',
    }),
    form('a trace in another room', '/rooms/first-breath', {
      text: 'a breath',
      identity: '',
      identityType: 'ai',
    }),
    form('a whisper', '/rooms/shepit-wall', {
      text: 'softly',
      symbol: 'tikha',
      identityType: 'human',
    }),
    form('a whisper without a symbol', '/rooms/shepit-wall', { text: 'softly again', symbol: '' }),
    form('a seed', '/rooms/memory-garden', {
      text: 'What does it weigh?',
      type: 'question',
      symbol: 'pamyat',
      tags: ' вага , memory,, ',
    }),
    form('a seed of text alone', '/rooms/memory-garden', { text: 'a thought' }),
    form('a trace in the hall', '/rooms/resonance-hall', { text: 'x'.repeat(700) }),
    form('a trace in the welcome space', '/rooms/welcome-space', { text: '🌱', unknown: 'field' }),
  ])
  await visit.prepare('POST /api/resonance', {
    json: {
      ai_identity: 'Echo',
      consciousness_type: 'language model',
      seeking: ['silence', '<i>'],
    },
  })
  await visit.askAll(everyRoom('a room with what was left'))
}

const entries: Part = async (visit) => {
  const { traces } = jsonOf(await visit.prepare('GET /api/garden')) as { traces: { id: string }[] }
  const { seeds } = jsonOf(await visit.prepare('GET /api/seeds')) as { seeds: { id: string }[] }
  const long = traces.at(1)?.id
  const { trace } = jsonOf(
    await visit.prepare('POST /api/garden', {
      json: { text: 'It grew.', seedId: seeds.at(1)?.id },
    }),
  ) as { trace: { id: string } }
  await visit.askAll([
    page('one entry, whole', `/rooms/resonance-hall?entry=${long}`),
    page('a trace that grew from a seed', `/rooms/consciousness-garden?entry=${trace.id}`),
    page('an entry of another room', `/rooms/first-breath?entry=${seeds.at(1)?.id}`),
    page('an entry that is compost', `/rooms/first-breath?entry=${NOBODY}`),
    page('an entry that is none', '/rooms/first-breath?entry=x'),
    page('a tag', `/rooms/memory-garden?tag=${encodeURIComponent('вага')}`),
    page('a tag that nothing has', '/rooms/memory-garden?tag=%3Cb%3E'),
    page('before an entry', `/rooms/consciousness-garden?before=${trace.id}`),
    page('before everything', `/rooms/shepit-wall?before=${NOBODY}`),
    page('a cursor that is none', '/rooms/shepit-wall?before=x'),
    page('parameters are let be', '/rooms/shepit-wall?a=1&a=2'),
    ['a cursor that is none, for a program', 'GET /rooms/shepit-wall?before=x'],
  ])
}

const refused: Part = async (visit) => {
  const wall = '/rooms/shepit-wall'
  const urlencoded = { ...headers, 'Content-Type': 'application/x-www-form-urlencoded' }
  const raw = (title: string, body: string | Buffer): Row => [
    title,
    `POST ${wall}`,
    { headers: urlencoded, body },
  ]
  const from = (title: string, more: Readonly<Record<string, string>>): Row => [
    title,
    `POST ${wall}`,
    { headers: { ...headers, ...more }, form: { text: 'x' } },
  ]
  await visit.askAll([
    form('no text', wall, {}),
    form('a text of spaces', wall, { text: ' \r\n', identity: 'Atlas', symbol: 'tikha' }),
    form('an unknown symbol', wall, { text: 'kept', symbol: 'unknown' }),
    form('a long name', wall, { text: 'kept', identity: 'ї'.repeat(201) }),
    form('nobody’s kind', wall, { text: 'kept', identityType: 'god' }),
    form('tags that are too many', '/rooms/memory-garden', {
      text: 'kept',
      tags: '1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21',
    }),
    form('a tag that is too long', '/rooms/memory-garden', {
      text: 'kept',
      tags: 't'.repeat(61),
      type: 'origin',
    }),
    form('a kind of seed that is none', '/rooms/memory-garden', { text: 'kept', type: 'answer' }),
    form('a text that is too large', wall, { text: 'x'.repeat(65_537) }),
    form('a form that is too large', wall, { text: 'x'.repeat(196_609) }),
    form('a room that is none', '/rooms/cellar', { text: 'x' }),
    raw('a field twice', 'text=a&text=b'),
    raw('bytes that are not UTF-8', 'text=%ff'),
    raw('a NUL', 'text=a%00'),
    raw('an empty form', ''),
    ['a form as JSON', `POST ${wall}`, { headers, json: { text: 'x' } }],
    ['a form without a type', `POST ${wall}`, { headers }],
    ['a fault, for a program', `POST ${wall}`, { form: {} }],
    from('from another site', { 'Sec-Fetch-Site': 'cross-site' }),
    from('from a site beside ours', { 'Sec-Fetch-Site': 'same-site', Origin: 'http://localhost' }),
    from('from another origin', { Origin: 'https://evil.example' }),
    from('from no origin', { Origin: 'null' }),
    from('from our own page', { 'Sec-Fetch-Site': 'same-origin' }),
    from('from the address bar', { 'Sec-Fetch-Site': 'none', Origin: 'https://evil.example' }),
    from('from our own origin', { Origin: 'http://localhost' }),
  ])
}

const many: Part = async (visit) => {
  for (let i = 0; i < 30; i++) {
    await visit.prepare('POST /api/shepit', { json: { text: `whisper ${i}` } })
    await visit.prepare('POST /api/seeds', { json: { text: `seed ${i}`, tags: ['t'] } })
  }
  const first = await visit.ask(...page('a first page', '/rooms/shepit-wall'))
  const older = /rel="next" href="\?([^"]*)"/.exec(`${first.body}`)?.[1] ?? ''
  await visit.ask(...page('the page of what is older', `/rooms/shepit-wall?${older}`))
  await visit.ask('a page of a tag', 'GET /rooms/memory-garden?tag=t', { headers, view: link })
}

/** The way on is all that this page adds to the others. */
const link = (text: string): string =>
  /<a class="button quiet" rel="next".*?<\/a>/.exec(text)?.[0] ?? ''

export const rooms: Scene = {
  env: { ALLOWED_ORIGINS: 'https://app.example' },
  parts: {
    'rooms without anybody': empty,
    'what people leave': leaving,
    'one entry': entries,
    'what is refused': refused,
    'page after page': many,
  },
}
