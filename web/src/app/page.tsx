import { type ComponentType, useEffect, useState } from "react";
import { Skeleton } from "../ui/States";
import { retryImport } from "../base/lazy";

type Module = { default: ComponentType };

/** Code is the code of a page. It is loaded when the page is first shown, or before. */
export class Code {
	component: ComponentType | null = null;
	private loading: Promise<void> | null = null;

	constructor(private readonly from: () => Promise<Module>) {}

	load = () => {
		this.loading ??= retryImport(this.from).then(
			(module) => {
				this.component = module.default;
			},
			(error) => {
				this.loading = null;
				throw error;
			},
		);
		return this.loading;
	};
}

/** Loading is shown in place of a page until its code is loaded. */
export function Loading() {
	return (
		<div style={{ padding: 32 }}>
			<Skeleton rows={8} />
		</div>
	);
}

/**
 * CodePage shows a page. Code that is there is shown at once. Other code is not waited for by Suspense, because React
 * keeps what Suspense shows meanwhile for 300 ms at least.
 */
export function CodePage({ code }: { code: Code }) {
	const [LoadedPage, setLoadedPage] = useState(() => code.component);
	const [failure, setFailure] = useState<{ error: unknown } | null>(null);
	useEffect(() => {
		if (LoadedPage) return;
		let mounted = true;
		code.load().then(
			() => mounted && setLoadedPage(() => code.component),
			(error: unknown) => mounted && setFailure({ error }),
		);
		return () => {
			mounted = false;
		};
	}, [code, LoadedPage]);
	if (failure) throw failure.error;
	return LoadedPage ? <LoadedPage /> : <Loading />;
}
