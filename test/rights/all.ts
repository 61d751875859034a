/** The rows of every door, in the order in which the endpoints are declared. */
import { consoleRights } from './console.ts'
import { gatewayRights } from './gateway.ts'
import { homeRights } from './home.ts'
import { operationsRights } from './operations.ts'
import type { Rights } from './rights.ts'
import { roomRights } from './rooms.ts'

export const allRights: readonly Rights[] = [
  ...homeRights,
  ...gatewayRights,
  ...operationsRights,
  ...consoleRights,
  ...roomRights,
]
