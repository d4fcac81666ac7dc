import { type ComponentType, useEffect, useState } from "react";
import { Skeleton } from "../ui/States";
import { patiently } from "../base/lazy";

type Module = { default: ComponentType };

/** Code is the code of a page. It is loaded when the page is first shown, or before. */
export class Code {
	component: ComponentType | null = null;
	private coming: Promise<void> | null = null;

	constructor(private readonly from: () => Promise<Module>) {}

	load = () => {
		this.coming ??= patiently(this.from).then(
			(module) => {
				this.component = module.default;
			},
			(error) => {
				this.coming = null;
				throw error;
			},
		);
		return this.coming;
	};
}

/** Loading is what stands in the place of a page until its code has come. */
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
	const [Shown, setShown] = useState(() => code.component);
	const [failure, setFailure] = useState<{ error: unknown } | null>(null);
	useEffect(() => {
		if (Shown) return;
		let here = true;
		code.load().then(
			() => here && setShown(() => code.component),
			(error: unknown) => here && setFailure({ error }),
		);
		return () => {
			here = false;
		};
	}, [code, Shown]);
	if (failure) throw failure.error;
	return Shown ? <Shown /> : <Loading />;
}
