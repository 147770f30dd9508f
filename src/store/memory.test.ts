import { MemoryStore } from './memory.ts';
import { storeContract } from './store.contract.ts';

storeContract('MemoryStore', async () => new MemoryStore());
