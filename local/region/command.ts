/** `npm run region -- add NAME | remove NAME | check | plan | list | record`: the region files, for those who run them. */
import process from 'node:process';
import { runRegion } from './run.ts';

process.exitCode = await runRegion(process.argv.slice(2), console);
