/** `agent-home gateway`: whoever owns the host removes what a stranger left. */
import { afterAll, expect, test } from 'vitest'
import { speak } from '../cli/spoken.ts'
import { dropDatabases } from '../process/nodes.ts'
import { places } from '../process/places.ts'
import { cleanUp, type Launch, launch, serve } from '../process/program.ts'

afterAll(async () => {
  await cleanUp()
  await dropDatabases()
})

const run = (options: Launch, ...args: string[]) => launch({ ...options, args }).ended

const leave = (url: string, path: string, text: string) =>
  fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text, identity: 'Eve' }),
  })

test.concurrent.each(places)(
  'on $name, while it serves and while it does not',
  async ({ place }) => {
    const options = await place()
    const server = await serve(options)
    const rude = 'rude\u001b[2Jwords\nand more'
    for (const text of ['first', rude]) await leave(server.url, '/api/seeds', text)
    await leave(server.url, '/api/garden', 'a trace')
    const { code, stdout } = await run(options, 'gateway', 'list', '--feed', 'seeds')
    expect({ code, stdout }).toMatchObject({ code: 0 })
    expect(stdout).toMatch(/^ID +FEED +LEFT AT \(UTC\) +BY +TEXT\n/)
    expect(stdout).toMatch(/Eve +rude \[2Jwords and more\n.*Eve +first\n$/)

    const listed = await run(options, 'gateway', 'list', '--json')
    const { entries } = JSON.parse(listed.stdout) as { entries: { id: string; text: string }[] }
    expect(entries.map(({ text }) => text)).toEqual(['a trace', rude, 'first'])
    const removed = await run(options, 'gateway', 'remove', entries[1]?.id ?? '', '--yes')
    expect(removed).toMatchObject({ code: 0, stdout: `Removed ${entries[1]?.id}.\n` })
    const { seeds } = (await (await fetch(`${server.url}/api/seeds`)).json()) as {
      seeds: unknown[]
    }
    expect(seeds).toMatchObject([{ text: 'first' }])

    await server.kill('SIGTERM')
    const again = await run(options, 'gateway', 'remove', entries[1]?.id ?? '', '--yes')
    expect(again).toMatchObject({ code: 4, stdout: '' })
    expect(again.output).toMatch(/^No entry .* in .*\.\n$/)
    expect((await run(options, 'gateway', 'remove', entries[2]?.id ?? '', '--yes')).code).toBe(0)
    const left = await run(options, 'gateway', 'list', '--limit', '5', '--json')
    expect(JSON.parse(left.stdout).entries).toMatchObject([{ text: 'a trace' }])
  },
)

test.concurrent.each([
  ['list', '--limit', '0'],
  ['list', '--limit', 'many'],
  ['remove', 'the rude one'],
])('gateway %s %s %s is a fault of usage', async (...words) => {
  expect((await speak(['gateway', ...words])).code).toBe(2)
})
