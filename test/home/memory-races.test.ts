import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { timesPromised } from '../effort.ts'
import { engines, memoryPath, openService, type TestService, write } from '../harness.ts'
import { proves } from '../requirements.ts'

const ROUNDS = timesPromised(100)
const AT_ONCE = 64

describe.each(engines)('memory under concurrent writes on $name', (engine) => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(engine, { WRITES_PER_MINUTE: '0', READS_PER_MINUTE: '0' })
  })
  afterAll(() => service.close())

  const textOf = async (token: string) => {
    const { body } = await service.call('GET', `${memoryPath}?key=plan`, { token })
    return (body.memory as { text: string; version: number }) ?? {}
  }

  test(
    `of ${AT_ONCE} writes at once of one version exactly one wins, ${ROUNDS} times in a row`,
    proves('versions.conflict', 'versions.update'),
    async () => {
      const { token, operatorToken } = await service.birth()
      for (let version = 0; version < ROUNDS; version++) {
        const answers = await Promise.all(
          Array.from({ length: AT_ONCE }, (_, n) =>
            write(service, n % 2 ? token : operatorToken, 'plan', `${version}.${n}`, version),
          ),
        )
        const won = answers.flatMap(({ status }, n) => (status === 200 ? [n] : []))
        const lost = answers.filter(({ status }) => status === 409)
        expect([won.length, lost.length]).toEqual([1, AT_ONCE - 1])
        expect(lost.every(({ body }) => body.currentVersion === version + 1)).toBe(true)
        expect(await textOf(token)).toMatchObject({
          text: `${version}.${won[0]}`,
          version: version + 1,
        })
      }
    },
  )
})
