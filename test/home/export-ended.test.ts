/** Who may read no longer is not sent the rest of an export. */
import { expect, test } from 'vitest'
import { engines, incomingOf, openService, textOf, write } from '../harness.ts'

const endings = ['POST /keys', 'PATCH ', 'POST /erase'] as const

test.each(engines.flatMap((engine) => endings.map((ending) => ({ engine, ending }))))(
  'an export breaks off when its token is void: $ending on $engine.name',
  async ({ engine, ending }) => {
    const service = await openService(engine)
    const { token, operatorToken, agentId } = await service.birth()
    for (let n = 0; n < 20; n++) await write(service, token, `k${n}`, 'x'.repeat(16_000))
    const answer = await service.app.serve(incomingOf('GET', '/api/agents/me/export', { token }))
    const { body } = answer
    if (body === null || typeof body === 'string') throw new Error('no stream')
    const pieces = body.pieces[Symbol.asyncIterator]()
    expect((await pieces.next()).done).toBe(false)
    const [method = '', path = ''] = ending.split(' ')
    const sent = { 'PATCH ': { status: 'paused' }, 'POST /erase': { agent_id: agentId } }
    const ended = await service.call(method, `/api/agents/me${path}`, {
      token: operatorToken,
      ...(ending !== 'POST /keys' && { body: sent[ending] }),
    })
    expect(ended.status).toBe(200)
    await expect(pieces.next()).rejects.toMatchObject({
      code: ending === 'PATCH ' ? 'agent_paused' : 'invalid_token',
    })
    body.close()
    const mine = incomingOf('GET', '/api/agents/me/export', { token: operatorToken })
    if (ending !== 'POST /erase') {
      expect(JSON.parse(await textOf(await service.app.serve(mine))).memoryCount).toBe(20)
    }
    await service.close()
  },
)
