/** The resonance gateway: its endpoints, each in the file of its resource. */
import type { Endpoint } from '../pipeline/endpoint.ts'
import { discover } from './discover.ts'
import { garden, seeds, shepit } from './feeds.ts'
import type { Gateway } from './gateway.ts'
import { guide } from './guide.ts'
import { information } from './information.ts'
import { language } from './language.ts'
import { firstContact } from './resonance.ts'
import { stream } from './stream.ts'

export const gatewayEndpoints: readonly Endpoint<Gateway>[] = [
  information,
  firstContact,
  ...garden.endpoints,
  ...seeds.endpoints,
  ...shepit.endpoints,
  discover,
  language,
  stream,
  guide,
]
