/** Every endpoint that asks for a credential, with every kind that an engine has to tell apart. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { promised } from '../effort.ts'
import { endpoints } from '../endpoints.ts'
import { embedded, engines } from '../harness.ts'
import { proves } from '../requirements.ts'
import { allRights, askedRights } from './all.ts'
import { byTheStore } from './battery/battery.ts'
import { examples } from './examples.ts'
import { takesSession, takesToken } from './rights.ts'
import { type AllDoors, openAllDoors, subjectOf } from './subject.ts'
import { openWorld, type World } from './world.ts'

test('rights and examples are told of every declared endpoint, and of no other', () => {
  const named = ({ operationId, method, path }: (typeof endpoints)[number]) =>
    `${operationId}: ${method} ${path}`
  const told = allRights.map(({ operationId, method, path }) => `${operationId}: ${method} ${path}`)
  expect(told.toSorted()).toEqual(endpoints.map(named).toSorted())
  const operationIds = allRights.map(({ operationId }) => operationId)
  expect(Object.keys(examples).toSorted()).toEqual(operationIds.toSorted())
})

describe.each(engines)('rights on $name', (engine) => {
  let world: World
  let doors: AllDoors
  beforeAll(async () => {
    world = await openWorld(engine)
    doors = openAllDoors(world)
  })
  afterAll(() => world.service.close())

  const asked = askedRights.filter((row) => takesToken(row) || takesSession(row))

  // What engines tell apart are credentials, and these are the same at every endpoint.
  test.each(engine === embedded ? asked : promised(asked))(
    '$operationId is for whom it is for, as the store knows them',
    proves(
      'auth.bearer',
      'auth.401',
      'auth.403.permission',
      'auth.403.state',
      'auth.either',
      'auth.operator-only',
      'errors.profile.401',
      'errors.export.401',
      'errors.export.403',
      'errors.status.401',
      'errors.status.403',
      'errors.keys.401',
      'errors.keys.403',
      'errors.memory-read.401',
      'errors.memory-read.403',
      'errors.memory-write.401',
      'errors.memory-write.403',
    ),
    async (row) => {
      expect(await Array.fromAsync(byTheStore(subjectOf(row, world, doors)))).toEqual([])
    },
  )
})
