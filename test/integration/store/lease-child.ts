/**
 * A process that takes a lease: arguments are the database and the lease's name. It prints `held` or `busy`, and stays
 * until it is killed.
 */
import { openDatabase } from '../../../src/store/database.ts';
import { acquireLease } from '../../../src/store/leases.ts';

const [, , connectionString = '', name = ''] = process.argv;
const lease = await acquireLease(openDatabase({ connectionString }), name);
console.log(lease === null ? 'busy' : 'held');
process.stdin.resume();
