/** Real graphs whose checkpoints are in a home with the quotas of a normal one. */
import type { RunnableConfig } from '@langchain/core/runnables'
import { Command } from '@langchain/langgraph'
import {
  type BaseCheckpointSaver,
  emptyCheckpoint,
  MemorySaver,
} from '@langchain/langgraph-checkpoint'
import { AgentHome, type AgentHomeOptions } from 'agent-home-client'
import * as adapter from 'agent-home-client/langgraph'
import { AgentHomeSaver } from 'agent-home-client/langgraph'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { placed } from '../../../clients/typescript/src/langgraph/values.ts'
import { timesPromised } from '../../effort.ts'
import { run, saysIn } from '../examples.ts'
import { openLossyWay } from '../lossy.ts'
import { type OpenedHome, openHome } from '../opened.ts'
import { all } from '../outcome.ts'
import { approvalGraph, chatGraph, nestedGraph } from './graphs.ts'
import { examplesOf, follow, guideOf } from './guide.ts'

/** How many fit into a minute of a normal home. */
const TURNS = 50

const A_MINUTE = 600

const METADATA = { source: 'loop', step: 0, parents: {} } as const

const thread = (thread_id: string) => ({ configurable: { thread_id } })

/** What a checkpoint says, whoever keeps it. */
const told = ({
  values,
  next,
  metadata,
}: {
  values: object
  next: string[]
  metadata?: object
}) => ({
  values,
  next,
  metadata,
})

describe('a graph of LangGraph', () => {
  let opened: OpenedHome
  beforeAll(async () => {
    opened = await openHome({ READS_PER_MINUTE: `${A_MINUTE}`, WRITES_PER_MINUTE: `${A_MINUTE}` })
  })
  afterAll(() => opened.close())

  /** A home, and what it was asked. */
  async function begin(options: Partial<AgentHomeOptions> = {}) {
    const counted = { reads: 0, writes: 0, refused: 0 }
    const ask: typeof fetch = async (input, init) => {
      const answer = await fetch(input, init)
      if (answer.status === 429) counted.refused += 1
      const { operations } = init?.body ? JSON.parse(String(init.body)) : { operations: undefined }
      if ((init?.method ?? 'GET') === 'GET') counted.reads += 1
      else counted.writes += operations?.length ?? 1
      return answer
    }
    const { token, home: bare } = await opened.born()
    return {
      counted,
      bare,
      home: new AgentHome({ url: opened.url, token, fetch: ask, ...options }),
    }
  }

  /** A home in which the number of writes is not what is tried. */
  async function unlimited(env: Readonly<Record<string, string>> = {}) {
    const { born, close } = await openHome(env)
    return { home: (await born()).home, close }
  }

  async function talk(checkpointer: BaseCheckpointSaver, turns: number) {
    const graph = chatGraph(checkpointer)
    for (let turn = 0; turn < turns; turn++) {
      const profile = turn === 0 ? { profile: { name: 'Ann' } } : {}
      await graph.invoke({ messages: [`question ${turn}`], ...profile }, thread('talk'))
    }
    return graph
  }

  test('50 turns fit into a normal home, and are remembered as in memory', async () => {
    const { home, bare, counted } = await begin()
    const turns = Math.max(12, timesPromised(TURNS))
    const ours = await talk(new AgentHomeSaver({ home }), turns)
    const theirs = await talk(new MemorySaver(), turns)
    expect(counted.refused).toBe(0)
    expect(Math.max(counted.reads, counted.writes) / turns).toBeLessThanOrEqual(A_MINUTE / TURNS)
    const [state, reference] = await Promise.all([
      ours.getState(thread('talk')),
      theirs.getState(thread('talk')),
    ])
    expect(state.values.messages).toHaveLength(3 * turns)
    expect(told(state)).toEqual(told(reference))
    const history = await all(ours.getStateHistory(thread('talk')))
    const whole = await all(theirs.getStateHistory(thread('talk')))
    expect(history).toHaveLength(20)
    expect(history.map(told)).toEqual(whole.slice(0, 20).map(told))
    expect((await bare.profile()).memoryCount).toBeLessThan(60)
  })

  test('values and writes of several batches are kept, and give way with all of their pieces', async () => {
    const { home, close } = await unlimited()
    const saver = new AgentHomeSaver({ home, keep: 2 })
    const counts: number[] = []
    let config: RunnableConfig = thread('big')
    for (let at = 1; at <= 4; at++) {
      const big = `${at}${'ї'.repeat(600_000)}`
      const versions = { big: at }
      const id = `${at}`.padStart(8, '0')
      const checkpoint = { ...emptyCheckpoint(), id, channel_values: { big } }
      const whole = { ...checkpoint, channel_versions: versions }
      const metadata = { ...METADATA, big }
      config = await saver.put(config, whole, metadata, versions)
      await saver.putWrites(config, [['big', big]], 'task')
      const found = await new AgentHomeSaver({ home }).getTuple(thread('big'))
      expect(found?.checkpoint.channel_values.big === big).toBe(true)
      expect(found?.pendingWrites?.map(([, , value]) => value === big)).toEqual([true])
      counts.push((await home.profile()).memoryCount)
    }
    expect(counts[2]).toBeGreaterThan(400)
    expect(counts[3]).toBe(counts[2])
    await saver.deleteThread('big')
    expect((await home.profile()).memoryCount).toBe(0)
    await close()
  })

  test('of a checkpoint that the home refuses no piece stays', async () => {
    const { home, close } = await unlimited({ MEMORIES_PER_AGENT: '300' })
    const saver = new AgentHomeSaver({ home })
    const versions = { big: 1 }
    const put = (big: string) =>
      saver.put(
        thread('big'),
        { ...emptyCheckpoint(), channel_values: { big }, channel_versions: versions },
        METADATA,
        versions,
      )
    const config = await put('ї'.repeat(1_000_000))
    const { memoryCount } = await home.profile()
    const long = 'ї'.repeat(2_000_000)
    const writes = () => saver.putWrites(config, [['big', long]], 'task')
    for (const refused of [() => put(long), writes]) {
      await expect(refused()).rejects.toMatchObject({ status: 409 })
    }
    expect((await home.profile()).memoryCount).toBe(memoryCount)
    await close()
  })

  test('what was said once is kept, however many checkpoints came since', async () => {
    const { home } = await begin()
    await talk(new AgentHomeSaver({ home, keep: 2 }), 4)
    const later = chatGraph(new AgentHomeSaver({ home, keep: 2 }))
    const { values } = await later.getState(thread('talk'))
    expect(values).toMatchObject({ profile: { name: 'Ann' }, asked: 4 })
    expect(await all(later.getStateHistory(thread('talk')))).toHaveLength(2)
  })

  test('a fork has its own values, and leaves the others theirs', async () => {
    const { home } = await begin()
    const graphs = await Promise.all(
      [new AgentHomeSaver({ home }), new MemorySaver()].map(async (saver) => {
        const graph = await talk(saver, 2)
        const history = await all(graph.getStateHistory(thread('talk')))
        const old = history.find(({ next }) => next.includes('answer'))
        if (!old) throw new Error('there is no checkpoint before an answer')
        const fork = await graph.updateState(old.config, { messages: ['another way'] })
        await graph.invoke(null, fork)
        return all(graph.getStateHistory(thread('talk')))
      }),
    )
    const [ours, theirs] = graphs.map((history) => history.map(told))
    expect(ours).toEqual(theirs)
    expect(ours?.[0]?.values).toMatchObject({ asked: 2 })
  })

  test('a run that waits for a person goes on in another process', async () => {
    const { home } = await begin()
    const graph = approvalGraph(new AgentHomeSaver({ home }))
    await graph.invoke({ messages: ['begin'] }, thread('ask'))
    const later = approvalGraph(new AgentHomeSaver({ home }))
    const waiting = await later.getState(thread('ask'))
    expect(waiting.tasks[0]?.interrupts[0]?.value).toBe('Who approves?')
    const { messages } = await later.invoke(new Command({ resume: 'Ben' }), thread('ask'))
    expect(messages).toEqual(['begin', 'a', 'b', 'c', 'approved by Ben'])
  })

  test('subgraphs keep their own, and go with the steps that made them', async () => {
    const { home, bare } = await begin()
    const graph = nestedGraph(new AgentHomeSaver({ home, keep: 4 }))
    for (let turn = 0; turn < 2; turn++) await graph.invoke({ messages: ['x'] }, thread('nest'))
    const count = (await bare.profile()).memoryCount
    for (let turn = 0; turn < 3; turn++) await graph.invoke({ messages: ['x'] }, thread('nest'))
    expect((await bare.profile()).memoryCount).toBeLessThanOrEqual(count + 1)
    const theirs = nestedGraph(new MemorySaver())
    for (let turn = 0; turn < 5; turn++) await theirs.invoke({ messages: ['x'] }, thread('nest'))
    const states = await Promise.all([graph, theirs].map((each) => each.getState(thread('nest'))))
    expect(states[0]?.values).toEqual(states[1]?.values)
  })

  test('checkpoints and writes longer than a memory come back whole', async () => {
    const { home, bare } = await begin()
    const graph = chatGraph(new AgentHomeSaver({ home, keep: 2 }))
    const long = 'ї"\\\n'.repeat(10_000)
    for (let turn = 0; turn < 3; turn++) await graph.invoke({ messages: [long] }, thread('long'))
    const { values } = await graph.getState(thread('long'))
    expect(values.messages.filter((message: string) => message === long)).toHaveLength(3)
    const sizes = (await all(bare.list())).map(({ bytes }) => bytes)
    expect(sizes.length).toBeGreaterThan(20)
    await new AgentHomeSaver({ home }).deleteThread('long')
    expect(await all(bare.list())).toEqual([])
  })

  test('two processes on one thread break nothing', async () => {
    const { home } = await begin()
    const graphs = [1, 2].map(() => chatGraph(new AgentHomeSaver({ home, keep: 2 })))
    for (let turn = 0; turn < 3; turn++) {
      await Promise.all(graphs.map((graph) => graph.invoke({ messages: ['x'] }, thread('both'))))
    }
    const { values } = await chatGraph(new AgentHomeSaver({ home })).getState(thread('both'))
    expect(values.messages.length).toBeGreaterThanOrEqual(9)
    expect(values.asked).toBe(values.messages.length / 3)
  })

  test('what many tasks wrote is kept beside a memory that is full', async () => {
    const { home } = await begin()
    const saver = new AgentHomeSaver({ home })
    const checkpoint = { ...emptyCheckpoint(), id: 'wide' }
    const beside = { ...emptyCheckpoint(), id: 'wid' }
    const other = await saver.put(thread('wide'), beside, METADATA, {})
    const config = await saver.put(other, checkpoint, METADATA, {})
    const tasks = Array.from({ length: 40 }, (_, at) => `task-${String(at).padStart(2, '0')}`)
    await Promise.all(
      tasks.map((task) => saver.putWrites(config, [['messages', task.repeat(200)]], task)),
    )
    await saver.putWrites(config, [['messages', 'once more']], 'task-00')
    const tuple = await saver.getTuple(config)
    expect(tuple?.pendingWrites).toEqual(tasks.map((task) => [task, 'messages', task.repeat(200)]))
    expect((await saver.getTuple(other))?.pendingWrites).toEqual([])
  })

  test('what tasks wrote before a checkpoint that fills its memory is kept beside it', async () => {
    const { home } = await begin()
    const saver = new AgentHomeSaver({ home })
    const config = { configurable: { thread_id: 'full', checkpoint_id: 'full' } }
    const tasks = ['a', 'b', 'c']
    for (const task of tasks) {
      await saver.putWrites(config, [['said', task.repeat(3_000)]], task)
    }
    const [channel_values, versions] = [{ said: 'x'.repeat(11_000) }, { said: 1 }]
    const full = { channel_values, channel_versions: versions }
    const checkpoint = { ...emptyCheckpoint(), id: 'full', ...full }
    await saver.put(thread('full'), checkpoint, METADATA, versions)
    const tuple = await saver.getTuple(config)
    expect(tuple?.checkpoint).toMatchObject(full)
    expect(tuple?.pendingWrites?.map(([task]) => task)).toEqual(tasks)
  })

  test('values that lie in more checkpoints than its metadata have room for are kept anew', () => {
    const shared = (count: number) => {
      const channels = Array.from({ length: count }, (_, at) => [`c${at}`, at + 1] as const)
      const versions = Object.fromEntries(channels)
      const values = Object.fromEntries(channels.map(([name]) => [name, { type: 'json', json: 1 }]))
      const holders = Object.fromEntries(channels.map(([name, at]) => [name, `step-${at}`]))
      const parent = { id: 'parent', versions, own: new Set<string>(), holders }
      return { values, holders, placed: placed(versions, values, {}, parent) }
    }
    const [few, many] = [shared(50), shared(51)]
    expect(few.placed).toEqual({ own: {}, holders: few.holders })
    expect(many.placed).toEqual({ own: many.values, holders: {} })
  })

  test('a checkpoint is what it was when it was put, whatever becomes of its objects', async () => {
    const { home } = await begin()
    const saver = new AgentHomeSaver({ home })
    const said = ['first']
    const channel_values = { said }
    const versions = { said: 1 }
    const checkpoint = { ...emptyCheckpoint(), channel_values, channel_versions: versions }
    const putting = saver.put(thread('mutable'), checkpoint, METADATA, versions)
    said.push('later')
    const tuple = await saver.getTuple(await putting)
    expect(tuple?.checkpoint.channel_values).toEqual({ said: ['first'] })
  })

  test('a thread that is rebuilt from its ancestors keeps them all', async () => {
    const { home } = await begin()
    const saver = new AgentHomeSaver({ home, keep: 2 })
    const delta = {
      ...METADATA,
      counters_since_delta_snapshot: { messages: [1, 1] as [number, number] },
    }
    for (const metadata of [delta, METADATA]) {
      let config: RunnableConfig = thread(metadata === delta ? 'delta' : 'plain')
      for (let step = 0; step < 5; step++) {
        const checkpoint = { ...emptyCheckpoint(), id: `step-${step}` }
        config = await saver.put(config, checkpoint, metadata, {})
      }
    }
    expect(await all(saver.list(thread('delta')))).toHaveLength(5)
    expect(await all(saver.list(thread('plain')))).toHaveLength(2)
  })

  test('a child of a checkpoint that gave way has its values by itself', async () => {
    const { home } = await begin()
    const [here, elsewhere] = [1, 2].map(() => new AgentHomeSaver({ home, keep: 2 }))
    const put = (
      saver: AgentHomeSaver | undefined,
      config: RunnableConfig,
      id: string,
      said: number,
    ) =>
      saver?.put(
        config,
        { ...emptyCheckpoint(), id, channel_values: { said }, channel_versions: { said } },
        METADATA,
        id === 'step-9' ? {} : { said },
      ) ?? config
    const first = await put(here, thread('gone'), 'step-0', 1)
    let config = first
    for (let step = 1; step < 5; step++) {
      config = await put(elsewhere, config, `step-${step}`, step + 1)
    }
    expect(await here?.getTuple(first)).toBeUndefined()
    const child = await here?.getTuple(await put(here, first, 'step-9', 1))
    expect(child?.checkpoint.channel_values).toEqual({ said: 1 })
  })

  test('answers that are lost lose no checkpoint', async () => {
    const { token, home } = await opened.born()
    const lossy = await openLossyWay(opened.port)
    const far = new AgentHome({ url: lossy.url, token })
    const graph = chatGraph(new AgentHomeSaver({ home: far }))
    for (let turn = 0; turn < 3; turn++) {
      lossy.loseAnswers(2)
      await graph.invoke({ messages: ['x'] }, thread('lost'))
    }
    await lossy.close()
    const { values } = await chatGraph(new AgentHomeSaver({ home })).getState(thread('lost'))
    expect(values).toMatchObject({ asked: 3 })
    expect(values.messages).toHaveLength(9)
  })

  test('threads of any name are their own', async () => {
    const { home } = await begin()
    const ids = ['a', 'a.b', 'розмова', 'x'.repeat(200), 'twenty-two-characters1', 'A']
    const graph = chatGraph(new AgentHomeSaver({ home }))
    for (const id of ids) await graph.invoke({ messages: [id] }, thread(id))
    for (const id of ids) {
      expect((await graph.getState(thread(id))).values.messages[0]).toBe(id)
    }
  })

  test('the guide comes true', async () => {
    const { token } = await opened.born()
    const guide = guideOf('langgraph')
    const printed = await follow(guide, { url: opened.url, token })
    expect(printed.length).toBeGreaterThan(3)
    expect(printed).toEqual(saysIn(guide))
  })

  test('so do the examples of its sources', async () => {
    const { home } = await begin()
    const given = { home, ...adapter }
    await chatGraph(new AgentHomeSaver({ home })).invoke({ messages: ['x'] }, thread('thread-1'))
    for (const example of examplesOf('langgraph')) await run(example, given)
    expect(await all(home.list({ prefix: 'graph.' }))).toEqual([])
    expect((await home.read('store.users.ann.likes'))?.text).toBe('{"food":"borshch"}')
  })
})
